// @ts-check
/**
 * The files of a set, downloaded side by side, and what Pyodide asks for answered out of them.
 */

import { BootError, download } from "./download.js";
import { unzipped } from "./pack.js";

/** @typedef {import("./protocol.js").Manifest} Manifest */
/** @typedef {Map<string, Promise<ArrayBuffer>>} Files by path below the runtime folder */

const WASM = "pyodide/pyodide.asm.wasm";

/** @type {import("./download.js").Clock} */
export const clock = {
  after(milliseconds, then) {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};

/**
 * Starts the downloads of a set, all at once.
 * @param {"boot" | "schemas" | "extra"} set
 * @param {Manifest} manifest
 * @param {string} base
 * @param {object} [options]
 * @param {(file: string, bytes: number) => void} [options.received]
 * @param {(file: string) => Promise<Response | undefined>} [options.kept] a copy of a pack, nearer than the server
 * @param {Record<string, (response: Response) => void>} [options.opened] by file: gets a copy of the answer as it begins
 * @returns {Files}
 */
export function downloadSet(set, manifest, base, { received, kept, opened } = {}) {
  const files = new Map();
  const fetch = globalThis.fetch.bind(globalThis);
  for (const [file, expected] of Object.entries(manifest.files)) {
    if (expected.set !== set || isScript(file)) continue;
    const buffer = download(file, expected, {
      base,
      fetch: kept && isPack(file) ? async (...request) => (await kept(file)) ?? fetch(...request) : fetch,
      clock,
      priority: set === "boot" ? "auto" : "low",
      received: (bytes) => received?.(file, bytes),
      opened: opened?.[file],
    });
    buffer.catch(() => {});
    files.set(file, buffer);
  }
  return files;
}

const isPack = (/** @type {string} */ file) => file.endsWith(".pack");

/** @param {string} file */
export function isScript(file) {
  return /\.m?js$/.test(file);
}

/** The boot set, with its WebAssembly compiled while it arrives. */
export class BootFiles {
  /** The module of the latest attempt. @type {Promise<WebAssembly.Module>} */
  #compiled = Promise.reject(new Error("nothing has arrived"));
  /** What is in the packs, by file. @type {Files} */
  #zips = new Map();
  #base;

  /**
   * @param {Manifest} manifest
   * @param {string} base
   * @param {object} [options]
   * @param {(file: string, bytes: number) => void} [options.received]
   * @param {(file: string) => Promise<Response | undefined>} [options.kept] a copy that is nearer than the server
   */
  constructor(manifest, base, { received, kept } = {}) {
    this.#base = base;
    this.#compiled.catch(() => {});
    this.files = downloadSet("boot", manifest, base, {
      received,
      kept,
      opened: { [WASM]: (response) => this.#compile(response) },
    });
    this.arrived = Promise.all(this.files.values());
    this.arrived.catch(() => {});
    // At once: later, Pyodide keeps this thread busy.
    for (const file of [...this.files.keys()].filter(isPack)) this.#zips.set(file, this.arrivalOf(file).then(unzipped));
  }

  /**
   * The file once it is there. A failed download is not told to Pyodide, which would only log it: the boot is over then.
   * @param {string} file
   * @returns {Promise<ArrayBuffer>}
   */
  arrivalOf(file) {
    const buffer = this.files.get(file);
    if (!buffer) throw new BootError("boot_failed", `The manifest names no ${file}.`, { file });
    return new Promise((resolve) => buffer.then(resolve, () => {}));
  }

  /** The zip in a pack of the set. @param {string} file */
  zip(file) {
    return this.#zips.get(file) ?? this.arrivalOf(file);
  }

  /**
   * Runs `work` while `fetch` and `WebAssembly.instantiateStreaming` serve Pyodide from the downloads under way;
   * rejects as soon as one of them fails.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async standingIn(work) {
    const { fetch } = globalThis;
    const { instantiateStreaming } = WebAssembly;
    try {
      return await new Promise((resolve, reject) => {
        globalThis.fetch = (input, init) => this.#answer(input) ?? fetch.call(globalThis, input, init);
        WebAssembly.instantiateStreaming = (_, imports) => {
          const made = this.#instantiated(imports);
          made.catch(reject);
          return made;
        };
        this.arrived.catch(reject);
        work().then(resolve, reject);
      });
    } finally {
      globalThis.fetch = fetch;
      WebAssembly.instantiateStreaming = instantiateStreaming;
    }
  }

  /** A browser keeps machine code only of what it compiles straight from an answer. @param {Response} response */
  #compile(response) {
    this.#compiled = WebAssembly.compileStreaming(response);
    this.#compiled.catch(() => {});
  }

  /** Runs nothing before the hash is known to be right. @param {WebAssembly.Imports} [imports] */
  async #instantiated(imports) {
    const bytes = await this.arrivalOf(WASM);
    // Hosts may serve it under another type, and browsers then refuse to compile the answer.
    const module = await this.#compiled.catch(() => WebAssembly.compile(bytes));
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  }

  /** @param {RequestInfo | URL} input @returns {Promise<Response> | undefined} */
  #answer(input) {
    const url = input instanceof Request ? input.url : String(input);
    const file = url.startsWith(this.#base) ? url.slice(this.#base.length) : "";
    if (!this.files.has(file)) return undefined;
    // Pyodide waits for an answer before it asks for the instance: this one is read by nobody.
    if (file === WASM) return Promise.resolve(new Response());
    return this.zip(file).then((buffer) => new Response(buffer));
  }
}
