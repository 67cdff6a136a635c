// @ts-check
/**
 * Compiles the Python modules of a zip with the bundle's own interpreter, whose bytecode is no other version's:
 * `node compile.mjs PYODIDE SOURCES TARGET OPTIMIZE PREFIX`. `PREFIX` stands before the file names in tracebacks.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const COMPILE = `
import pathlib, py_compile, zipfile

def compile_all(optimize, prefix):
    """Replace every module of /sources.zip by its bytecode, which never looks for its source, in /compiled.zip."""
    with zipfile.ZipFile("/sources.zip") as sources, zipfile.ZipFile("/compiled.zip", "w") as target:
        for name in sorted(sources.namelist()):
            pathlib.Path("/module.py").write_bytes(sources.read(name))
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            made = py_compile.compile(
                "/module.py", "/module.pyc", prefix + name, doraise=True, optimize=optimize, invalidation_mode=mode
            )
            target.writestr(name + "c", pathlib.Path(made).read_bytes())

compile_all
`;

const [folder = "", sources = "", target = "", optimize = "0", prefix = ""] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide.mjs")).href);
// Sets are written in the order of their hashes. Lines are enough for a traceback: columns are a fifth of all bytes.
const env = { PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" };
const pyodide = await loadPyodide({ indexURL: resolve(folder), env });
pyodide.FS.writeFile("/sources.zip", new Uint8Array(readFileSync(sources)));
pyodide.runPython(COMPILE)(Number(optimize), prefix);
writeFileSync(target, pyodide.FS.readFile("/compiled.zip"));
