// @ts-check
/** One start each, in a fresh module worker: milliseconds from nothing to the moment that is measured. */

import { connect } from "/langfx-web.js";

const modules = ["/demo/support_agent.py", "/bench/bench_agent.py"];

/** Has the snapshot made that `restored` starts from. */
export async function prepare() {
  const { runtime, snapshotKey } = await (await fetch("/manifest.json")).json();
  const [{ connectTo }, { manifest }] = await Promise.all(
    ["connect.js", "manifest.js"].map((script) => import(`/${runtime}/web/${script}`)),
  );
  const langfx = await connectTo({ store: "memory" }, { manifest, quiet: 0 });
  const cache = await caches.open("langfx-web-snapshot");
  const heap = `/langfx-web-snapshot/${snapshotKey}/heap`;
  while (!(await cache.match(heap))) await new Promise((resolve) => setTimeout(resolve, 100));
  await langfx.close();
}

export const cold = () => ours(false);
export const restored = () => ours(true);

/**
 * Ours, measured twice: the first answered command, then the first token of an agent with a typed tool.
 * @param {boolean} snapshot
 */
async function ours(snapshot) {
  const started = performance.now();
  const langfx = await connect({ modules, store: "memory", snapshot });
  try {
    await langfx.call("bench_agent:ping");
    const ready = performance.now() - started;
    if (langfx.snapshot !== snapshot) throw new Error(`this start was ${snapshot ? "not " : ""}restored`);
    for await (const event of langfx.agent("bench").session().prompt("Where is order 7?")) {
      if (event.type === "text_delta") return { ready, firstToken: performance.now() - started };
    }
    throw new Error("the agent said nothing");
  } finally {
    await langfx.close();
  }
}

/** Bare Pyodide with pydantic imported. */
export async function npm() {
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
