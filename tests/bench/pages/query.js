// @ts-check
/** Typed answers in one worker, which times them itself. */

import { connect } from "/langfx-web.js";

const modules = ["/bench/bench_orders.py", "/bench/bench_query.py"];
const langfx = await connect({ modules, store: "memory", snapshot: false });

/** Milliseconds of what a function of the worker does. @param {string} name */
export function milliseconds(name) {
  return langfx.call(`bench_query:${name}`);
}
