// @ts-check
/**
 * Packages that a page asks for, a start without them never loads this module: locks, wheels, and where they go.
 */

import { BootError, download, toWire } from "./download.js";

/** @typedef {import("./protocol.js").WireError} WireError */

/**
 * A wheel to install: its address, absolute or below `wheels/`, its hash in hex, and Pyodide's word for its place.
 * @typedef {{name: string, url: string, sha256: string, to: string}} Wheel
 */

/** What Python needs of the world to find and install packages; every answer is a text or bytes, none rejects. */
export class Packages {
  #pyodide;
  #manifest;
  #base;
  #clock;
  #progress;

  /**
   * @param {object} parts
   * @param {PyodideAPI} parts.pyodide
   * @param {import("./protocol.js").Manifest} parts.manifest
   * @param {string} parts.base
   * @param {import("./download.js").Clock} parts.clock
   * @param {{expect(file: string, size: number): void, received(file: string, bytes: number): void}} parts.progress
   */
  constructor({ pyodide, manifest, base, clock, progress }) {
    this.#pyodide = pyodide;
    this.#manifest = manifest;
    this.#base = base;
    this.#clock = clock;
    this.#progress = progress;
  }

  /** The text of a lock of the bundle, or of a wire error. @param {string} file */
  async lock(file) {
    try {
      return new TextDecoder().decode(await this.#download(file));
    } catch (error) {
      return JSON.stringify(toWire(error));
    }
  }

  /**
   * Downloads wheels side by side and installs those that came, in the order given.
   * @param {string} text JSON: a list of `Wheel`
   * @returns {Promise<string>} JSON: a list of `{name, error}` for those that failed
   */
  async install(text) {
    /** @type {Wheel[]} */
    const wheels = JSON.parse(text);
    const downloads = wheels.map(({ url, sha256 }) => this.#download(url, sha256));
    const outcomes = await Promise.allSettled(downloads);
    const failures = [];
    for (const [index, { name, url, to }] of wheels.entries()) {
      const outcome = outcomes[index];
      try {
        if (outcome?.status !== "fulfilled") throw outcome?.reason;
        await this.#unpack(new Uint8Array(outcome.value), url, to);
      } catch (error) {
        failures.push({ name, error: toWire(error) });
      }
    }
    return JSON.stringify(failures);
  }

  /**
   * The bytes behind an address, or the text of a wire error.
   * @param {string} url
   * @param {string} sha256 in hex; empty if nobody knows it
   */
  async read(url, sha256) {
    try {
      return new Uint8Array(await this.#download(url, sha256));
    } catch (error) {
      return JSON.stringify(toWire(error));
    }
  }

  /** @param {string} file an address, or a path of the bundle @param {string} [sha256] */
  async #download(file, sha256) {
    const expected = this.#manifest.files[file] ?? { sha256: sha256 ? integrityOf(sha256) : undefined };
    const size = "size" in expected ? expected.size : undefined;
    if (size !== undefined) this.#progress.expect(file, size);
    try {
      return await download(file, /** @type {any} */ (expected), {
        base: this.#base,
        fetch: globalThis.fetch.bind(globalThis),
        clock: this.#clock,
        received: (bytes) => this.#progress.received(file, bytes),
      });
    } catch (error) {
      throw explained(error, file, new URL(file, this.#base));
    }
  }

  /** @param {Uint8Array} bytes @param {string} url @param {string} to */
  async #unpack(bytes, url, to) {
    const file = decodeURIComponent(new URL(url, this.#base).pathname.split("/").pop() ?? "");
    const { install, package_loader: loader } = this.#pyodide._api;
    const metadata = new Map([["INSTALLER", "langfx_web"], ["PYODIDE_SOURCE", url]]);
    await install(bytes, file, loader.get_install_dir(to), metadata);
  }
}

/** The SRI spelling of a hash in hex. @param {string} hex */
function integrityOf(hex) {
  const bytes = (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return `sha256-${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * The error with the address as far as it is no secret. Of a request that a browser refused to make, or whose answer it
 * refused to show, it tells nothing but that it failed.
 * @param {unknown} error @param {string} file @param {URL} url
 */
function explained(error, file, { origin, pathname }) {
  if (!(error instanceof BootError)) return error;
  const plain = file.includes(":") ? origin + pathname : file;
  const remote = error.details["status"] === null && origin !== location.origin;
  const hint = " Its server must be reachable, allow this page's origin (CORS), and stand in the policy's connect-src.";
  const text = error.message.replaceAll(file, plain) + (remote ? hint : "");
  return new BootError(error.code, text, { retryable: error.retryable, ...error.details, file: plain });
}
