// @ts-check
/**
 * The memory of a Python that has imported our package, kept in the Cache API and put into a new one.
 *
 * Beside the heap lie the packs, unzipped: a heap has no files, so they are written at each start. Most pages of a heap
 * are empty and left out: what is kept begins with the numbers of the others.
 */

import { digest } from "./download.js";
import { SNAPSHOT_CACHE } from "./protocol.js";

const PAGE = 4096;
/** What a heap that is too short grows by. */
const STEP = 8 * 2 ** 20;

/**
 * The snapshot below `url`, if there is one and it may be used: private windows and insecure origins have no caches.
 * @param {string} url
 */
export async function findSnapshot(url) {
  try {
    const cache = await caches.open(SNAPSHOT_CACHE);
    const heap = await cache.match(`${url}heap`);
    return heap && new Snapshot(cache, url, heap);
  } catch {
    return undefined;
  }
}

/** One that was found; its bytes are read and checked while Python's WebAssembly is compiled. */
class Snapshot {
  #cache;
  #url;
  #bytes;
  #heapSize;
  #filled;

  /** @param {Cache} cache @param {string} url @param {Response} heap */
  constructor(cache, url, heap) {
    this.#cache = cache;
    this.#url = url;
    const { size, heapSize, ...expected } = JSON.parse(heap.headers.get("langfx") ?? "{}");
    this.#bytes = new Uint8Array(size);
    this.#heapSize = heapSize;
    this.#filled = this.#fill(heap, expected);
    this.#filled.catch(() => {});
  }

  /** A pack as it was unzipped, if it is still there. @param {string} name */
  file(name) {
    return this.#cache.match(this.#url + name);
  }

  /** What Pyodide is started with. @param {CreatePyodideModule} createPyodideModule */
  options(createPyodideModule) {
    return {
      // Filled later: Pyodide reads it only when its module has been created.
      _loadSnapshot: this.#bytes,
      /** @type {CreatePyodideModule} */
      createPyodideModule: async (settings) => {
        const module = await createPyodideModule(settings);
        // Pyodide copies into a heap of the size that a start has, however long the snapshot is.
        while (module.HEAP8.length < this.#heapSize) module._malloc(STEP);
        await this.#filled;
        return module;
      },
    };
  }

  /** @param {Response} heap @param {{length: number, sha256: string}} expected */
  async #fill(heap, { length, sha256 }) {
    const kept = await heap.arrayBuffer();
    if (kept.byteLength !== length) throw new Error(`it has ${kept.byteLength} bytes instead of ${length}`);
    if ((await digest(kept)) !== sha256) throw new Error("its bytes were changed");
    spread(kept, this.#bytes);
  }
}

/**
 * Stores a snapshot below `url` and deletes all others.
 * @param {string} url
 * @param {object} made
 * @param {Uint8Array} made.bytes
 * @param {number} made.heapSize
 * @param {Record<string, ArrayBuffer>} made.files packs by name, unzipped
 */
export async function storeSnapshot(url, { bytes, heapSize, files }) {
  const cache = await caches.open(SNAPSHOT_CACHE);
  for (const request of await cache.keys()) if (!request.url.startsWith(url)) await cache.delete(request);
  for (const [name, content] of Object.entries(files)) await cache.put(url + name, new Response(content));
  const kept = gathered(bytes);
  const about = { size: bytes.length, heapSize, length: kept.byteLength, sha256: await digest(kept) };
  await cache.put(`${url}heap`, new Response(kept, { headers: { langfx: JSON.stringify(about) } }));
}

/** The pages that are not empty, after their count and their numbers. @param {Uint8Array} bytes */
export function gathered(bytes) {
  const used = [];
  for (let page = 0; page * PAGE < bytes.length; page++) {
    if (pageOf(bytes, page).some((byte) => byte !== 0)) used.push(page);
  }
  const head = Uint32Array.of(used.length, ...used);
  const whole = new Uint8Array(head.byteLength + used.length * PAGE);
  whole.set(new Uint8Array(head.buffer));
  used.forEach((page, index) => whole.set(pageOf(bytes, page), head.byteLength + index * PAGE));
  return whole.buffer;
}

/** Undoes `gathered`, into bytes that are all 0. @param {ArrayBuffer} kept @param {Uint8Array} bytes */
export function spread(kept, bytes) {
  const [count = 0] = new Uint32Array(kept, 0, 1);
  const pages = new Uint32Array(kept, 4, count);
  pages.forEach((page, index) => {
    const start = 4 * (count + 1) + index * PAGE;
    bytes.set(new Uint8Array(kept, start, Math.min(PAGE, bytes.length - page * PAGE)), page * PAGE);
  });
}

/** @param {Uint8Array} bytes @param {number} page */
function pageOf(bytes, page) {
  return bytes.subarray(page * PAGE, (page + 1) * PAGE);
}
