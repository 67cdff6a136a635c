// @ts-check
/**
 * The memory snapshot, seen from the page: has one made when nothing else is to do, and drops one that is of no use.
 */

import { SNAPSHOT_CACHE } from "../worker/protocol.js";

/** Bytes that must be free: a snapshot may not be what fills the visitor's disk. */
const FREE = 200e6;
/** So many failures, and a key is given up. */
const FAILURES = 2;
/** Milliseconds for one to be made. */
const MAKING = 120_000;

/**
 * Waits for a quiet moment and has the snapshot made, unless it is there, or unwelcome.
 * @param {{manifest: import("../worker/protocol.js").Manifest, jspi: boolean, snapshot: string}} order
 * @param {object} page
 * @param {import("./clock.js").Clock} page.clock
 * @param {number} page.quiet milliseconds between two looks
 * @param {() => {worker: any, base: string}} page.start
 * @param {() => boolean} page.isIdle
 * @param {Promise<any>} page.over
 */
export async function makeSnapshot(order, { clock, quiet, start, isIdle, over }) {
  let ended = false;
  over.then(() => (ended = true));
  while (!ended && !(isIdle() && document.visibilityState === "visible")) await pause(clock, quiet);
  if (ended) return;
  await alone(async () => {
    if (ended || !(await isWelcome(order.snapshot))) return;
    const failure = await made(order, { clock, start, over });
    if (failure && navigator.onLine) await dropSnapshot(order.snapshot);
  });
}

/** Deletes a snapshot and remembers that it failed. @param {string} url */
export async function dropSnapshot(url) {
  const cache = await caches.open(SNAPSHOT_CACHE);
  const failures = (await failuresOf(cache, url)) + 1;
  for (const request of await cache.keys()) if (request.url.startsWith(url)) await cache.delete(request);
  await cache.put(`${url}failures`, new Response(String(failures)));
}

/** Whether there is none, it did not fail too often, and the visitor has room for it. @param {string} url */
async function isWelcome(url) {
  const { connection } = /** @type {{connection?: {saveData?: boolean}}} */ (navigator);
  if (connection?.saveData) return false;
  const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  if (quota - usage < FREE) return false;
  const cache = await caches.open(SNAPSHOT_CACHE);
  return !(await cache.match(`${url}heap`)) && (await failuresOf(cache, url)) < FAILURES;
}

/** @param {Cache} cache @param {string} url */
async function failuresOf(cache, url) {
  const noted = await cache.match(`${url}failures`);
  return noted ? Number(await noted.text()) : 0;
}

/**
 * Resolves to "", or to why there is none; a page that ends is no failure.
 * @param {object} order
 * @param {{clock: import("./clock.js").Clock, start: () => {worker: any, base: string}, over: Promise<any>}} page
 * @returns {Promise<string>}
 */
function made(order, { clock, start, over }) {
  return new Promise((resolve) => {
    const { worker, base } = start();
    const stop = clock.after(MAKING, () => end("it takes too long"));
    /** @param {string} failure */
    const end = (failure) => {
      stop();
      worker.terminate();
      resolve(failure);
    };
    worker.onmessage = (/** @type {MessageEvent} */ { data }) => end(data.made);
    worker.onerror = (/** @type {ErrorEvent} */ event) => (event.preventDefault(), end("the worker failed"));
    over.then(() => end(""));
    worker.postMessage({ make: { ...order, base } });
  });
}

/** Two tabs need not do the same. @param {() => Promise<void>} work */
async function alone(work) {
  if (!navigator.locks) return work();
  await navigator.locks.request(SNAPSHOT_CACHE, { ifAvailable: true }, (lock) => (lock ? work() : undefined));
}

/** @param {import("./clock.js").Clock} clock @param {number} milliseconds */
function pause(clock, milliseconds) {
  return new Promise((resolve) => clock.after(milliseconds, () => resolve(undefined)));
}
