// @ts-check
/**
 * Starting the worker from the page: can this browser do it, from which URL, and is it still alive?
 */

import { bootError } from "./errors.js";

/** @typedef {import("../worker/protocol.js").Manifest} Manifest */

/** The runtime folder. Bundlers would take `new URL("../", import.meta.url)` for a file of theirs. */
const HERE = import.meta.url.replace(/[^/]+\/[^/]+$/, "");
/** A timer that is later than this means that the tab was suspended, not that the worker was silent. */
const SUSPENDED = 2_000;

/** @throws {import("./errors.js").LangfxError} `unsupported_browser` */
export function requireFeatures() {
  const missing = [
    typeof WebAssembly === "object" || "WebAssembly",
    (typeof Worker === "function" && hasModuleWorkers()) || "module workers",
    typeof structuredClone === "function" || "structuredClone",
    typeof DecompressionStream === "function" || "DecompressionStream",
    typeof "".isWellFormed === "function" || "well-formed strings",
  ].filter((feature) => feature !== true);
  if (missing.length) throw bootError("unsupported_browser", `This browser lacks ${missing.join(", ")}.`, { missing });
}

/** Whether `type` is read at all; the URL is no URL, so nothing is requested and no policy is asked. */
function hasModuleWorkers() {
  let asked = false;
  const options = {
    get type() {
      asked = true;
      return /** @type {const} */ ("module");
    },
  };
  try {
    new Worker("http://:", options).terminate();
  } catch {
    // Expected: there is no such URL.
  }
  return asked;
}

/**
 * Makes the worker. No bundler may follow its URL: the runtime folder works only as it is.
 * @param {Manifest} manifest
 * @param {string | URL} [baseUrl] the folder that holds the runtime folder
 * @returns {{worker: Worker, base: string, url: string}} `base`: URL of the runtime folder
 * @throws {import("./errors.js").LangfxError} `boot_failed`
 */
export function startWorker(manifest, baseUrl) {
  const base = baseUrl === undefined ? HERE : runtimeUrl(manifest, baseUrl);
  const url = `${base}worker/worker.js`;
  try {
    return { worker: workerFrom(url), base, url };
  } catch (error) {
    throw bootError("boot_failed", `The worker ${url} could not be made: ${error}`, { url });
  }
}

/** @param {Manifest} manifest @param {string | URL} baseUrl relative to the page */
function runtimeUrl(manifest, baseUrl) {
  const folder = new URL(baseUrl, document.baseURI).href.replace(/\/*$/, "/");
  return new URL(`${manifest.runtime}/`, folder).href;
}

/** A worker's script must be of the page's origin; what it imports need not. @param {string} url */
function workerFrom(url) {
  if (new URL(url).origin === location.origin) return new Worker(url, { type: "module" });
  const shim = URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));
  setTimeout(() => URL.revokeObjectURL(shim), 60_000);
  return new Worker(shim, { type: "module" });
}

/**
 * Calls `silent` once nothing was heard for `limit` milliseconds.
 * @param {import("./clock.js").Clock} clock
 * @param {number} limit
 * @param {() => void} silent
 */
export function watchSilence(clock, limit, silent) {
  let last = clock.now();
  let stop = () => {};
  /** @param {number} wait */
  const arm = (wait) => {
    const due = clock.now() + wait;
    stop = clock.after(wait, () => {
      const now = clock.now();
      if (now - due > SUSPENDED) last = now;
      if (now - last >= limit) silent();
      else arm(last + limit - now);
    });
  };
  arm(limit);
  return { heard: () => void (last = clock.now()), stop: () => stop() };
}
