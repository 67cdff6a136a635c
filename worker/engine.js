// @ts-check
/**
 * What is asked of the engine before Pyodide starts: where one differs, Pyodide would wait for ever.
 */

import { BootError } from "./download.js";

/** The smallest WebAssembly module: magic number and version. */
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/**
 * Tells at once what Pyodide would hang on: a policy without 'wasm-unsafe-eval'. Most engines ask the policy when a
 * module is compiled, WebKit when it gets an instance.
 * @throws {BootError} `boot_blocked`
 */
export function requireWebAssembly() {
  try {
    new WebAssembly.Instance(new WebAssembly.Module(EMPTY_MODULE));
  } catch (error) {
    const directive = "script-src 'wasm-unsafe-eval'";
    throw new BootError("boot_blocked", `The worker's Content-Security-Policy lacks ${directive}.`, { directive });
  }
}

/**
 * Pyodide takes for an error what has a stack, and Python that awaits another one never goes on. In WebKit the errors
 * of the network have none, so that all errors inherit an empty one here.
 */
export function giveErrorsStacks() {
  if ("stack" in Error.prototype) return;
  Object.defineProperty(Error.prototype, "stack", { value: "", writable: true, configurable: true });
}
