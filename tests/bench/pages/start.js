// @ts-check
/** One start each, in a fresh module worker: milliseconds from nothing to the moment that is measured. */

import { connect } from "/langfx-web.js";

const modules = ["/demo/support_agent.py", "/bench/bench_agent.py"];

/** Ours, measured twice: the first answered command, then the first token of an agent with a typed tool. */
async function ours() {
  const started = performance.now();
  const langfx = await connect({ modules, store: "memory" });
  try {
    await langfx.call("bench_agent:ping");
    const ready = performance.now() - started;
    for await (const event of langfx.agent("bench").session().prompt("Where is order 7?")) {
      if (event.type === "text_delta") return { ready, firstToken: performance.now() - started };
    }
    throw new Error("the agent said nothing");
  } finally {
    await langfx.close();
  }
}

/** Bare Pyodide with pydantic imported. */
async function npm() {
  const started = performance.now();
  const worker = new Worker("/bench/npm_worker.js", { type: "module" });
  try {
    await new Promise((resolve, reject) => {
      worker.onmessage = resolve;
      worker.onerror = (event) => reject(new Error(event.message || "the worker failed"));
    });
    return { ready: performance.now() - started };
  } finally {
    worker.terminate();
  }
}

Object.assign(globalThis, { bench: { ours, npm } });
