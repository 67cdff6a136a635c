// @ts-check
/**
 * Boots Pyodide once: downloads, start, our package, and what typed work needs in the background.
 */

import { BootError, download } from "./download.js";
import { LaterSet } from "./later.js";
import { unzipped } from "./pack.js";

/** @typedef {import("./protocol.js").Boot} Boot */
/** @typedef {import("./protocol.js").Manifest} Manifest */
/** @typedef {(text: string, blobs: ArrayBuffer[]) => void} PostText */
/** @typedef {Map<string, Promise<ArrayBuffer>>} Files by path below the runtime folder */

/** Where Python finds our package, without a file of it being written. */
const PACKAGE_PATH = "/lib/langfx.zip";
/** Milliseconds after the start when pydantic is written unasked. */
const WRITE_AFTER = 200;
/** Bytes between two posts about progress. */
const PROGRESS_STEP = 128 * 1024;
/** Python remembers which files a folder had. */
const FORGET_MISSING = "import importlib; importlib.invalidate_caches()";
/** Imports our package, while nothing is collected: what a start makes is kept, and looking for garbage is slow. */
const IMPORT = `
import gc, sys
gc.disable()
import langfx_web
f"{sys.version.split()[0]} {langfx_web.__version__}"
`;
const STARTED = "gc.enable()";
/** The smallest WebAssembly module: magic number and version. */
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** @type {import("./download.js").Clock} */
const clock = {
  after(milliseconds, then) {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};

/**
 * Starts Python and returns its `dispatch(text, blobs)`.
 * @param {Boot} boot
 * @param {object} parts
 * @param {LoadPyodide} parts.loadPyodide
 * @param {CreatePyodideModule} parts.createPyodideModule
 * @param {PostText} parts.post
 * @param {Function} parts.openExchange
 * @returns {Promise<PostText>}
 * @throws {BootError} or whatever Pyodide throws
 */
export async function startRuntime(boot, { loadPyodide, createPyodideModule, post, openExchange }) {
  const { manifest, base } = boot;
  requireCompiling();
  if (!boot.jspi) removeJspi();
  /** @param {object} message */
  const tell = (message) => post(JSON.stringify([message]), []);
  const progress = new Progress(manifest, tell);
  const files = downloadSet("boot", manifest, base, progress);
  const arrived = Promise.all(files.values());
  arrived.then(
    () => progress.enter("start"),
    () => {},
  );

  const site = { packages: "" };
  const later = laterSets(manifest, base, (packed) => install(pyodide, site.packages, packed));
  arrived.then(
    () => later.schemas.prefetch(),
    () => {},
  );
  /** @type {PyodideAPI} */
  const pyodide = await standingIn(files, base, () =>
    firstOf(arrived, loadPyodide({ ...pythonOptions(files, base, tell, site), createPyodideModule })),
  );
  pyodide._api.on_fatal = (error) => tell({ kind: "fatal", error: stopped(error) });
  progress.enter("packages");
  importPackage(pyodide, manifest);

  const load = (/** @type {"schemas" | "extra"} */ set) => later[set].load();
  const page = { version: manifest.version, page: boot.page, secure: globalThis.isSecureContext ?? false };
  const entry = pyodide.pyimport("langfx_web.bridge.entry");
  const dispatch = entry.start(post, openExchange, load, JSON.stringify(page));
  entry.destroy();
  pyodide.runPython(STARTED);
  progress.enter("modules");
  setTimeout(() => later.schemas.load(), WRITE_AFTER);
  return dispatch;
}

/** A policy without 'wasm-unsafe-eval' makes Pyodide hang; compiling eight bytes tells at once. */
function requireCompiling() {
  try {
    new WebAssembly.Module(EMPTY_MODULE);
  } catch (error) {
    const directive = "script-src 'wasm-unsafe-eval'";
    throw new BootError("boot_blocked", `The worker's Content-Security-Policy lacks ${directive}.`, { directive });
  }
}

function removeJspi() {
  const wasm = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (WebAssembly));
  delete wasm.Suspending;
  delete wasm.promising;
}

/** Counts the bytes of the boot set; scripts are there already, since they do the counting. */
class Progress {
  #phase = "download";
  #total = 0;
  #posted = 0;
  /** @type {Map<string, number>} */
  #sizes = new Map();
  /** @type {Map<string, number>} */
  #received = new Map();
  #tell;

  /**
   * @param {Manifest} manifest
   * @param {(message: object) => void} tell
   */
  constructor({ files }, tell) {
    this.#tell = tell;
    for (const [file, { set, size }] of Object.entries(files)) {
      if (set !== "boot") continue;
      this.#total += size;
      this.#sizes.set(file, size);
      if (isScript(file)) this.#received.set(file, size);
    }
    this.#post();
  }

  /**
   * @param {string} file
   * @param {number} bytes a retry counts again from 0, the sum does not go back; a pack that the host unpacked has more
   */
  received(file, bytes) {
    const size = this.#sizes.get(file) ?? 0;
    this.#received.set(file, Math.min(size, Math.max(bytes, this.#received.get(file) ?? 0)));
    if (this.#loaded - this.#posted >= PROGRESS_STEP) this.#post();
  }

  /** @param {string} phase */
  enter(phase) {
    this.#phase = phase;
    this.#post();
  }

  get #loaded() {
    let sum = 0;
    for (const bytes of this.#received.values()) sum += bytes;
    return sum;
  }

  #post() {
    this.#posted = this.#loaded;
    this.#tell({ kind: "progress", phase: this.#phase, loaded: this.#posted, total: this.#total });
  }
}

/**
 * Starts the downloads of a set, all at once.
 * @param {"boot" | "schemas" | "extra"} set
 * @param {Manifest} manifest
 * @param {string} base
 * @param {Progress} [progress]
 * @returns {Files}
 */
function downloadSet(set, manifest, base, progress) {
  const files = new Map();
  for (const [file, expected] of Object.entries(manifest.files)) {
    if (expected.set !== set || isScript(file)) continue;
    const buffer = download(file, expected, {
      base,
      fetch: globalThis.fetch.bind(globalThis),
      clock,
      priority: set === "boot" ? "auto" : "low",
      received: (bytes) => progress?.received(file, bytes),
    });
    buffer.catch(() => {});
    files.set(file, buffer);
  }
  return files;
}

/**
 * @param {Manifest} manifest
 * @param {string} base
 * @param {(packed: Iterable<[path: string, bytes: Uint8Array]>) => void} install
 */
function laterSets(manifest, base, install) {
  const set = (/** @type {"schemas" | "extra"} */ name) => {
    return new LaterSet(() => downloadSet(name, manifest, base), install);
  };
  return { schemas: set("schemas"), extra: set("extra") };
}

/**
 * Puts files where Python looks for packages.
 * @param {PyodideAPI} pyodide
 * @param {string} folder
 * @param {Iterable<[path: string, bytes: Uint8Array]>} packed
 */
function install({ FS, runPython }, folder, packed) {
  for (const [path, bytes] of packed) {
    const file = `${folder}/${path}`;
    FS.mkdirTree(file.slice(0, file.lastIndexOf("/")));
    FS.writeFile(file, bytes);
  }
  runPython(FORGET_MISSING);
}

/**
 * Imports our package. Packs of another build would fail later, and obscurely.
 * @param {PyodideAPI} pyodide
 * @param {Manifest} manifest
 */
function importPackage(pyodide, { python, version }) {
  const found = pyodide.runPython(IMPORT);
  const expected = `${python} ${version}`;
  if (found === expected) return;
  const text = `Python and langfx_web are ${found}, and the manifest says ${expected}.`;
  throw new BootError("boot_failed", text, { found, expected });
}

/** @param {string} file */
function isScript(file) {
  return /\.m?js$/.test(file);
}

/**
 * What Pyodide is started with. Our package is read by zipimport, from a path that Python has from the start.
 * @param {Files} files
 * @param {string} base
 * @param {(message: object) => void} tell
 * @param {{packages: string}} site filled in once the path of site-packages is known
 * @returns {PyodideOptions}
 */
function pythonOptions(files, base, tell, site) {
  const zip = arrivalOf(files, "langfx.pack").then(unzipped);
  return {
    indexURL: `${base}pyodide/`,
    packageBaseUrl: `${base}wheels/`,
    stdLibURL: `${base}python.pack`,
    lockFileContents: arrivalOf(files, "pyodide-lock.json").then((buffer) => new TextDecoder().decode(buffer)),
    env: { PYTHONPATH: PACKAGE_PATH },
    fsInit: async (fs, { sitePackages }) => {
      site.packages = sitePackages;
      fs.writeFile(PACKAGE_PATH, new Uint8Array(await zip));
    },
    stdout: (text) => tell({ kind: "log", level: "info", text }),
    stderr: (text) => tell({ kind: "log", level: "warn", text }),
  };
}

/**
 * The file once it is there. A failed download is not told to Pyodide, which would only log it: the boot is over then.
 * @param {Files} files
 * @param {string} file
 * @returns {Promise<ArrayBuffer>}
 */
function arrivalOf(files, file) {
  const buffer = files.get(file);
  if (!buffer) throw new BootError("boot_failed", `The manifest names no ${file}.`, { file });
  return new Promise((resolve) => buffer.then(resolve, () => {}));
}

/**
 * Runs `work` while `fetch` answers requests for our files from the downloads under way, under the right type.
 * @template T
 * @param {Files} files
 * @param {string} base
 * @param {() => Promise<T>} work
 */
async function standingIn(files, base, work) {
  const original = globalThis.fetch;
  const headers = { "content-type": "application/wasm" };
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const file = url.startsWith(base) ? url.slice(base.length) : "";
    if (!files.has(file)) return original.call(globalThis, input, init);
    const content = arrivalOf(files, file).then((buffer) => (file.endsWith(".pack") ? unzipped(buffer) : buffer));
    return content.then((buffer) => new Response(buffer, { headers }));
  };
  try {
    return await work();
  } finally {
    globalThis.fetch = original;
  }
}

/**
 * Resolves to `result`, unless `needed` fails first.
 * @template T
 * @param {Promise<unknown>} needed
 * @param {Promise<T>} result
 * @returns {Promise<T>}
 */
function firstOf(needed, result) {
  return new Promise((resolve, reject) => {
    needed.catch(reject);
    result.then(resolve, reject);
  });
}

/** @param {unknown} error @returns {import("./protocol.js").WireError} */
function stopped(error) {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `Python stopped: ${reason}`;
  return { code: "worker_stopped", name: "WorkerStoppedError", message, retryable: true, details: {} };
}
