// @ts-check
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { SNAPSHOT_CACHE } from "../../worker/protocol.js";
import { findSnapshot, gathered, spread, storeSnapshot } from "../../worker/snapshot.js";
import { bufferOf, FakeCaches } from "./fakes.js";

const AT = "http://127.0.0.1/langfx-web-snapshot/key/";
const HEAP = new Uint8Array(3 * 4096 + 10).fill(7, 4096, 4100).fill(9, 3 * 4096);
const MADE = { bytes: HEAP, heapSize: 4, files: { "a.pack": bufferOf(new TextEncoder().encode("zip")) } };

afterEach(() => FakeCaches.remove());

/** A module whose heap grows by one byte with each piece of memory. */
function fakeModule() {
  const module = { HEAP8: new Int8Array(1), _malloc: () => ((module.HEAP8 = new Int8Array(module.HEAP8.length + 1)), 0) };
  return module;
}

/** @param {{HEAP8: Int8Array, _malloc(size: number): number}} [module] */
async function restored(module = fakeModule()) {
  const options = (await findSnapshot(AT))?.options(async () => module);
  await options?.createPyodideModule({});
  return options?._loadSnapshot;
}

/** @param {(heap: Uint8Array) => Uint8Array} change */
async function damage(change) {
  const cache = await caches.open(SNAPSHOT_CACHE);
  const heap = /** @type {Response} */ (await cache.match(`${AT}heap`));
  const bytes = change(new Uint8Array(await heap.arrayBuffer()));
  await cache.put(`${AT}heap`, new Response(bufferOf(bytes), { headers: heap.headers }));
}

test("what was stored is found, byte for byte, with the packs beside it", async () => {
  FakeCaches.install();
  await storeSnapshot(AT, MADE);
  assert.deepEqual(await restored(), HEAP);
  assert.equal(await (await (await findSnapshot(AT))?.file("a.pack"))?.text(), "zip");
  assert.equal(await (await findSnapshot(AT))?.file("b.pack"), undefined);
});

test("empty pages take no room", () => {
  for (const bytes of [HEAP, new Uint8Array(8192), new Uint8Array(0), Uint8Array.of(1)]) {
    const kept = gathered(bytes);
    assert.ok(kept.byteLength <= 12 + 2 * 4096);
    const again = new Uint8Array(bytes.length);
    spread(kept, again);
    assert.deepEqual(again, bytes);
  }
});

test("platform 15: a heap longer than that of a start is made room for first", async () => {
  FakeCaches.install();
  await storeSnapshot(AT, MADE);
  const module = fakeModule();
  await restored(module);
  assert.equal(module.HEAP8.length, MADE.heapSize);
});

test("platform 14: bytes that were changed or cut are not restored", async () => {
  FakeCaches.install();
  await storeSnapshot(AT, MADE);
  await damage((heap) => heap.map((byte, index) => (index === 5000 ? byte ^ 1 : byte)));
  await assert.rejects(restored(), /changed/);
  await damage((heap) => heap.slice(0, -1));
  await assert.rejects(restored(), /instead of/);
});

test("storing one deletes all others", async () => {
  FakeCaches.install();
  await storeSnapshot(AT.replace("key", "older"), MADE);
  await storeSnapshot(AT, MADE);
  const keys = await (await caches.open(SNAPSHOT_CACHE)).keys();
  assert.deepEqual(keys.map(({ url }) => url.replace(AT, "")).sort(), ["a.pack", "heap"]);
});

test("without the Cache API, and without a snapshot, there is none", async () => {
  assert.equal(await findSnapshot(AT), undefined);
  FakeCaches.install();
  assert.equal(await findSnapshot(AT), undefined);
});
