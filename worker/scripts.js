// @ts-check
/**
 * Pyodide's scripts, asked for at once and waited for by nobody but Pyodide's start: the bulk of the downloads is under
 * way while the browser reads them.
 */

const scripts = Promise.all([import("../pyodide/pyodide.mjs"), import("../pyodide/pyodide.asm.mjs")]);
scripts.catch(() => {});

/** @type {LoadPyodide} */
export const loadPyodide = async (options) => (await scripts)[0].loadPyodide(options);

/** @type {CreatePyodideModule} */
export const createPyodideModule = async (settings) => (await scripts)[1].default(settings);
