// @ts-check
/** The peer: Pyodide as npm ships it, and pydantic from the same wheels, by Pyodide's own loader. */

import { loadPyodide } from "/npm/pyodide.mjs";

const pyodide = await loadPyodide();
await pyodide.loadPackage("pydantic", { messageCallback() {} });
self.postMessage(pyodide.runPython("import pydantic; pydantic.__version__"));
