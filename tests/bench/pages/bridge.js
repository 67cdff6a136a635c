// @ts-check
/** What crosses the border, timed on the page, in one worker. */

let posts = 0;

/** Counts the posts that bring items. */
class CountingWorker extends Worker {
  /** @param {string | URL} url @param {WorkerOptions} options */
  constructor(url, options) {
    super(url, options);
    this.addEventListener("message", ({ data }) => (posts += data.text.includes('"kind":"items"') ? 1 : 0));
  }
}
globalThis.Worker = CountingWorker;

const { connect } = await import("/langfx-web.js");
const langfx = await connect({ modules: ["/bench/bench_bridge.py"], store: "memory", snapshot: false });
const mebibyte = new Uint8Array(2 ** 20).fill(7);

/** Milliseconds per call, one after the other. @param {number} count */
export function calls(count) {
  return perRepeat(count, () => langfx.call("bench_bridge:nothing"));
}

/** Milliseconds for a mebibyte there and back. @param {number} count */
export function bytes(count) {
  return perRepeat(count, async () => {
    const back = await langfx.call("bench_bridge:same", [mebibyte]);
    if (back.length !== mebibyte.length || back[12_345] !== 7) throw new Error("the bytes came back changed");
  });
}

/** Milliseconds per item. @param {string} name @param {number} count */
export async function items(name, count) {
  const started = performance.now();
  let came = 0;
  for await (const _ of langfx.stream(`bench_bridge:${name}`, [count])) came++;
  if (came !== count) throw new Error(`${came} of ${count} items came`);
  return (performance.now() - started) / count;
}

/** How many posts brought the deltas of an answer. @param {number} count of deltas */
export async function postsOfAnswer(count) {
  posts = 0;
  let came = 0;
  for await (const _ of langfx.stream("bench_bridge:chunks")) came++;
  if (came !== count) throw new Error(`${came} of ${count} deltas came`);
  return posts;
}

/** @param {number} count @param {() => Promise<any>} work */
async function perRepeat(count, work) {
  const started = performance.now();
  for (let repeat = 0; repeat < count; repeat++) await work();
  return (performance.now() - started) / count;
}
