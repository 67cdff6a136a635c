// @ts-check
/** The contenders of the loop bench, each in a worker of its own, which times it itself. */

import { connect } from "/langfx-web.js";

/** Milliseconds of a run of so many steps. @type {Record<string, (steps: number) => Promise<number>>} */
const contenders = {};

/** Start the workers. @param {string[]} wheels what the peer in Python is made of */
export async function prepare(wheels) {
  contenders.langfx = await python("bench_loop");
  contenders.pydantic_ai = await python("bench_pydantic_ai", wheels);
  contenders.ai_sdk = script("/peers/ai_sdk_loop.js");
}

/** @param {string} name @param {number} steps */
export function milliseconds(name, steps) {
  return contenders[name](steps);
}

/** @param {string} module @param {string[]} wheels */
async function python(module, wheels = []) {
  const langfx = await connect({ modules: [`/bench/${module}.py`], wheels, store: "memory", snapshot: false });
  return (/** @type {number} */ steps) => langfx.call(`${module}:milliseconds`, [steps]);
}

/** @param {string} url */
function script(url) {
  const worker = new Worker(url, { type: "module" });
  return (/** @type {number} */ steps) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(steps);
    });
}
