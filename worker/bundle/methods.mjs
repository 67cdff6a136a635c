// @ts-check
/**
 * Compiles what `dataclasses` writes when our package is imported, so that no start has to: `node methods.mjs PYODIDE
 * SOURCES TARGET`. The result is a marshalled table of code by text.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const RECORD = `
import dataclasses, importlib, marshal, pathlib, pkgutil, sys

methods = {}

def record(text, *scope):
    methods[text] = compile(text, "<string>", "exec")
    exec(methods[text], *scope)

dataclasses.exec = record
sys.path.insert(0, "/sources.zip")
import langfx_web

for module in pkgutil.walk_packages(langfx_web.__path__, "langfx_web."):
    # This one needs a browser's worker around it, and has no dataclass.
    if module.name != "langfx_web.bridge.entry":
        importlib.import_module(module.name)
pathlib.Path("/methods").write_bytes(marshal.dumps(methods))
`;

const [folder = "", sources = "", target = ""] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide.mjs")).href);
// As in compile.mjs.
const env = { PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" };
const pyodide = await loadPyodide({ indexURL: resolve(folder), env });
pyodide.FS.writeFile("/sources.zip", new Uint8Array(readFileSync(sources)));
pyodide.runPython(RECORD);
writeFileSync(target, pyodide.FS.readFile("/methods"));
