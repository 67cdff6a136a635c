// @ts-check
/** The memory of a worker at the start, with pydantic, and over repeated units of work. */

import { connect } from "/langfx-web.js";

const blob = new Blob([new Uint8Array(2 ** 18).fill(7)]);

/** @type {Record<string, (langfx: any) => Promise<any>>} */
const units = {
  call: (langfx) => langfx.call("bench_memory:same", [{ numbers: [1, 2, 3] }]),
  stream: (langfx) => read(langfx.stream("bench_memory:texts")),
  turn: (langfx) => read(langfx.agent("bench").session().prompt("Speak.")),
  async cancelled_turn(langfx) {
    const session = langfx.agent("bench").session();
    const turn = session.prompt("Speak.");
    for await (const _ of turn) break;
    await session.cancel();
    await turn.result;
  },
  blob: (langfx) => langfx.call("bench_memory:same", [blob]),
};

/** Bytes of the heap in fresh workers: at `ready`, and once pydantic was used. */
export async function heaps() {
  return { ready: await heapOf("bench_memory"), pydantic: await heapOf("bench_schemas") };
}

/** @param {string} module */
async function heapOf(module) {
  const langfx = await connect({ modules: [`/bench/${module}.py`], store: "memory", snapshot: false });
  const bytes = await langfx.call(`${module}:heap`);
  await langfx.close();
  return bytes;
}

/** What each unit leaves behind in one worker: growth over `repeats`, after as many that warm up. @param {number} repeats */
export async function growth(repeats) {
  // With pydantic, which a worker without work imports at a time of its own.
  const langfx = await connect({ modules: ["/bench/bench_schemas.py", "/bench/bench_memory.py"], store: "memory", snapshot: false });
  await langfx.call("bench_schemas:heap");
  await langfx.call("bench_memory:trace");
  /** @type {Record<string, Record<string, number>>} */
  const found = {};
  for (const [name, unit] of Object.entries(units)) {
    const states = [];
    for (let round = 0; round < 2; round++) {
      for (let repeat = 0; repeat < repeats; repeat++) await unit(langfx);
      states.push(await langfx.call("bench_memory:state"));
    }
    const [before, after] = states;
    found[name] = Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]));
  }
  await langfx.close();
  return found;
}

/** @param {AsyncIterable<any>} items */
async function read(items) {
  for await (const _ of items);
}
