// @ts-check
/**
 * The worker's entry: the first message boots Python, every later text goes to Python unread. A worker can also be
 * told to make a memory snapshot, and does nothing else then.
 */

import { toWire } from "./download.js";
import { openExchange } from "./pump.js";
import { createPyodideModule, loadPyodide } from "./scripts.js";
import { startRuntime } from "./runtime.js";

/** @typedef {import("./protocol.js").Post} Post */

/** Posts that came before Python was there. @type {Post[]} */
const early = [];
/** @type {import("./runtime.js").PostText | undefined} */
let dispatch;

self.onmessage = ({ data }) => {
  if (data.boot) boot(data.boot);
  else if (data.make) make(data.make);
  else if (dispatch) deliver(data);
  else early.push(data);
};

/** @param {import("./protocol.js").Boot} settings */
async function boot(settings) {
  try {
    dispatch = await startRuntime(settings, { loadPyodide, createPyodideModule, post, openExchange });
    early.splice(0).forEach(deliver);
  } catch (error) {
    tell({ kind: "fatal", error: toWire(error) });
  }
}

/** @param {import("./protocol.js").Make} order */
async function make(order) {
  let failure = "";
  try {
    const { makeSnapshot } = await import("./make.js");
    await makeSnapshot(order, { loadPyodide, createPyodideModule });
  } catch (error) {
    failure = String(error);
  }
  self.postMessage({ made: failure });
}

/** @param {Post} post */
function deliver({ text, blobs }) {
  try {
    dispatch?.(text, blobs);
  } catch (error) {
    tell({ kind: "log", level: "error", text: `A message could not be handled: ${error}` });
  }
}

/**
 * @param {string} text
 * @param {ArrayBuffer[]} blobs
 */
function post(text, blobs) {
  self.postMessage({ text, blobs }, { transfer: blobs });
}

/** @param {object} message */
function tell(message) {
  post(JSON.stringify([message]), []);
}
