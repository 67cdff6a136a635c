// @ts-check
/**
 * Boots Pyodide once: downloads, start, our package, and what typed work needs in the background.
 */

import { BootError } from "./download.js";
import { giveErrorsStacks, requireWebAssembly } from "./engine.js";
import { BootFiles, clock, downloadSet } from "./files.js";
import { LaterSet } from "./later.js";
import { Progress } from "./progress.js";
import { IMPORTED, loadPython, removeJspi } from "./python.js";
import { findSnapshot } from "./snapshot.js";

/** @typedef {import("./protocol.js").Boot} Boot */
/** @typedef {import("./protocol.js").Manifest} Manifest */
/** @typedef {(text: string, blobs: ArrayBuffer[]) => void} PostText */

/** Milliseconds after the start when pydantic is written unasked. */
const WRITE_AFTER = 200;
/** Python remembers which files a folder had. */
const FORGET_MISSING = "import importlib; importlib.invalidate_caches()";

/**
 * @typedef {object} Parts
 * @property {LoadPyodide} loadPyodide
 * @property {CreatePyodideModule} createPyodideModule
 * @property {PostText} post
 * @property {Function} openExchange
 */

/**
 * Starts Python and returns its `dispatch(text, blobs)`. If a snapshot turns out to be of no use, the page is told, and
 * nothing returned: it starts again in another worker.
 * @param {Boot} boot
 * @param {Parts} parts
 * @returns {Promise<PostText>}
 * @throws {BootError} or whatever Pyodide throws
 */
export async function startRuntime(boot, parts) {
  requireWebAssembly();
  giveErrorsStacks();
  if (!boot.jspi) removeJspi();
  /** @param {object} message */
  const tell = (message) => parts.post(JSON.stringify([message]), []);
  const finding = boot.snapshot ? findSnapshot(boot.snapshot) : Promise.resolve(undefined);
  const progress = new Progress(boot.manifest, tell);
  const files = new BootFiles(boot.manifest, boot.base, {
    received: (file, bytes) => progress.received(file, bytes),
    kept: async (file) => (await finding)?.file(file),
  });
  files.arrived.then(
    () => progress.enter("start"),
    () => {},
  );
  const snapshot = await finding;
  if (!snapshot) return start(boot, parts, files, progress, tell);
  try {
    tell({ kind: "snapshot", state: "found" });
    const dispatch = await start(boot, parts, files, progress, tell, snapshot.options(parts.createPyodideModule));
    tell({ kind: "snapshot", state: "restored" });
    return dispatch;
  } catch (error) {
    if (error instanceof BootError && error.code === "download_failed") throw error;
    tell({ kind: "snapshot", state: "failed", reason: error instanceof Error ? error.message : String(error) });
    return new Promise(() => {});
  }
}

/**
 * @param {Boot} boot
 * @param {Parts} parts
 * @param {BootFiles} files
 * @param {Progress} progress
 * @param {(message: object) => void} tell
 * @param {Partial<PyodideOptions>} [restoring]
 */
async function start(boot, { loadPyodide, createPyodideModule, ...parts }, files, progress, tell, restoring) {
  const { manifest, base } = boot;
  const later = laterSets(manifest, base, (packed) => install(pyodide, packages, packed));
  files.arrived.then(
    () => later.schemas.prefetch(),
    () => {},
  );
  const { pyodide, packages } = await loadPython(boot, files, {
    loadPyodide,
    options: {
      createPyodideModule,
      stdout: (text) => tell({ kind: "log", level: "info", text }),
      stderr: (text) => tell({ kind: "log", level: "warn", text }),
      ...restoring,
    },
    loaded: () => progress.enter("packages"),
  });
  pyodide._api.on_fatal = (error) => tell({ kind: "fatal", error: stopped(error) });

  const load = (/** @type {"schemas" | "extra"} */ set) => later[set].load();
  const installer = async () => {
    return new (await import("./packages.js")).Packages({ pyodide, manifest, base, clock, progress });
  };
  const enter = (/** @type {string} */ phase) => progress.enter(phase);
  const secure = globalThis.isSecureContext ?? false;
  const extra = manifest.files["extra.pack"];
  const page = { version: manifest.version, page: boot.page, secure, base, extra };
  const entry = pyodide.pyimport("langfx_web.bridge.entry");
  const dispatch = entry.start(parts.post, parts.openExchange, load, JSON.stringify(page), installer, enter);
  entry.destroy();
  pyodide.runPython(IMPORTED);
  setTimeout(() => later.schemas.load(), WRITE_AFTER);
  return dispatch;
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

/** @param {unknown} error @returns {import("./protocol.js").WireError} */
function stopped(error) {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `Python stopped: ${reason}`;
  return { code: "worker_stopped", name: "WorkerStoppedError", message, retryable: true, details: {} };
}
