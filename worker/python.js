// @ts-check
/**
 * Python with our package imported: what a start and the making of a snapshot have in common.
 */

import { BootError } from "./download.js";

/** @typedef {import("./protocol.js").Manifest} Manifest */
/** @typedef {import("./files.js").BootFiles} BootFiles */

/** Where Python finds our package, without a file of it being written. */
const PACKAGE_PATH = "/lib/langfx.zip";
/**
 * Imports our package, while nothing is collected: what a start makes is kept, and looking for garbage is slow. The
 * methods of our dataclasses were compiled by the build; what is not among them, dataclasses compiles as ever.
 */
const IMPORT = `
import dataclasses, gc, marshal, sys

def give_methods():
    known = marshal.loads(dataclasses.__loader__.get_data("methods.marshal"))
    dataclasses.exec = lambda text, *scope: exec(known.get(text, text), *scope)

gc.disable()
if "langfx_web" not in sys.modules:
    give_methods()
import langfx_web
f"{sys.version.split()[0]} {langfx_web.__version__}"
`;
/** What comes after the import. */
export const IMPORTED = `
vars(dataclasses).pop("exec", None)
gc.enable()
`;

/**
 * Loads Python and imports our package. Packs of another build would fail later, and obscurely.
 * @param {{manifest: Manifest, base: string}} place
 * @param {BootFiles} files
 * @param {object} parts
 * @param {LoadPyodide} parts.loadPyodide
 * @param {Partial<PyodideOptions>} parts.options further ones
 * @param {() => void} [parts.loaded] called between the two
 * @returns {Promise<{pyodide: PyodideAPI, packages: string}>} `packages`: the path of site-packages
 * @throws {BootError} or whatever Pyodide throws
 */
export async function loadPython({ manifest, base }, files, { loadPyodide, options, loaded }) {
  let packages = "";
  const zip = files.zip("langfx.pack");
  const pyodide = await files.standingIn(() =>
    loadPyodide({
      indexURL: `${base}pyodide/`,
      packageBaseUrl: `${base}wheels/`,
      stdLibURL: `${base}python.pack`,
      lockFileContents: files.arrivalOf("pyodide-lock.json").then((buffer) => new TextDecoder().decode(buffer)),
      // Python looks there from its start, and reads it by zipimport.
      env: { PYTHONPATH: PACKAGE_PATH },
      fsInit: async (fs, { sitePackages }) => {
        packages = sitePackages;
        fs.writeFile(PACKAGE_PATH, new Uint8Array(await zip));
      },
      ...options,
    }),
  );
  loaded?.();
  const found = pyodide.runPython(IMPORT);
  const expected = `${manifest.python} ${manifest.version}`;
  if (found === expected) return { pyodide, packages };
  const text = `Python and langfx_web are ${found}, and the manifest says ${expected}.`;
  throw new BootError("boot_failed", text, { found, expected });
}

/** Pyodide uses promise integration wherever it finds it. */
export function removeJspi() {
  const wasm = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (WebAssembly));
  delete wasm.Suspending;
  delete wasm.promising;
}
