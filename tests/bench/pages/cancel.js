// @ts-check
/** Answers that are cancelled, in one worker. */

import { connect } from "/langfx-web.js";

const langfx = await connect({ modules: ["/bench/bench_cancel.py"], store: "memory", snapshot: false });
/** @type {{controller: AbortController, end: Promise<unknown>}} */
let running;

/** Asks for an answer; resolves at once, or with `first` once a text is there. @param {string} state @param {boolean} first */
export async function start(state, first) {
  const controller = new AbortController();
  const texts = langfx.stream("bench_cancel:texts", [state], { signal: controller.signal });
  if (first) await texts.next();
  running = { controller, end: ended(texts) };
}

/** Cancels the answer; resolves, when that has come to its end, to the time when it was asked for. */
export async function cancel() {
  const at = (performance.timeOrigin + performance.now()) / 1000;
  running.controller.abort();
  if ((await running.end) !== running.controller.signal.reason) throw new Error("the answer did not end as cancelled");
  return at;
}

/** @param {AsyncIterable<string>} texts */
async function ended(texts) {
  try {
    for await (const _ of texts);
  } catch (error) {
    return error;
  }
}
