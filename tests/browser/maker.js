// @ts-check
/** A worker that makes a snapshot after Python has run code that the real one would not run. */

self.onmessage = async ({ data: { make, code } }) => {
  try {
    const [{ default: createPyodideModule }, { loadPyodide: load }, { makeSnapshot }] = await Promise.all(
      ["pyodide/pyodide.asm.mjs", "pyodide/pyodide.mjs", "worker/make.js"].map((path) => import(make.base + path)),
    );
    const loadPyodide = async (/** @type {any} */ options) => {
      const pyodide = await load(options);
      await pyodide.runPythonAsync(code);
      return pyodide;
    };
    await makeSnapshot(make, { loadPyodide, createPyodideModule });
    self.postMessage({ made: "" });
  } catch (error) {
    self.postMessage({ made: String(error) });
  }
};
