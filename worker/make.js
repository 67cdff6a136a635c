// @ts-check
/**
 * Makes the memory snapshot, in a worker that does nothing else: loaded only there.
 */

import { BootFiles } from "./files.js";
import { IMPORTED, loadPython, removeJspi } from "./python.js";
import { storeSnapshot } from "./snapshot.js";

/**
 * All of our package but what holds JavaScript objects, and modules that user code and pydantic begin with. Nothing
 * that is not pure Python may be in it. What is frozen is never again looked at for garbage.
 */
const WARM = `
import importlib, pkgutil

for module in pkgutil.walk_packages(langfx_web.__path__, "langfx_web."):
    if module.name != "langfx_web.bridge.entry":
        importlib.import_module(module.name)
for name in ("base64", "csv", "datetime", "decimal", "fractions", "ipaddress", "math", "statistics", "string", "uuid"):
    importlib.import_module(name)
del module, name
${IMPORTED}
gc.collect()
gc.freeze()
`;

/**
 * Starts a Python, has it import what every start needs, and stores its memory.
 * @param {import("./protocol.js").Make} order
 * @param {object} parts
 * @param {LoadPyodide} parts.loadPyodide
 * @param {CreatePyodideModule} parts.createPyodideModule
 */
export async function makeSnapshot({ manifest, base, jspi, snapshot }, { loadPyodide, createPyodideModule }) {
  if (!jspi) removeJspi();
  const files = new BootFiles(manifest, base);
  let heapSize = () => 0;
  const options = {
    _makeSnapshot: true,
    /** @type {CreatePyodideModule} */
    createPyodideModule: async (settings) => {
      const module = await createPyodideModule(settings);
      heapSize = () => module.HEAP8.length;
      return module;
    },
  };
  const { pyodide } = await loadPython({ manifest, base }, files, { loadPyodide, options });
  pyodide.runPython(WARM);
  const bytes = pyodide.makeMemorySnapshot();
  const zips = await Promise.all(["python.pack", "langfx.pack"].map(async (file) => [file, await files.zip(file)]));
  await storeSnapshot(snapshot, { bytes, heapSize: heapSize(), files: Object.fromEntries(zips) });
}
