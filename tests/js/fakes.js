// @ts-check
/**
 * Stand-ins for the outside world: a worker that a test plays, and a clock that it turns by hand.
 */

import { readFileSync } from "node:fs";

/** An endpoint that keeps what was posted to it; the test answers in the worker's name. */
export class FakeEndpoint {
  /** @type {((event: {data: any}) => void) | null} */
  onmessage = null;
  /** @type {((event: any) => void) | null} */
  onerror = null;
  /** @type {(() => void) | null} */
  onmessageerror = null;
  terminated = 0;
  /** @type {{text: string, blobs: ArrayBuffer[]}[]} */
  posts = [];
  /** @type {any[]} what was posted without a text */
  structured = [];

  /** @param {any} post @param {{transfer?: ArrayBuffer[]}} [options] */
  postMessage(post, options) {
    const copy = structuredClone(post, { transfer: options?.transfer ?? [] });
    if (copy.text === undefined) this.structured.push(copy);
    else this.posts.push(copy);
  }

  terminate() {
    this.terminated++;
  }

  /** All messages posted so far, or those of one kind. @param {string} [kind] @returns {any[]} */
  sent(kind) {
    const messages = this.posts.flatMap(({ text }) => JSON.parse(text));
    return kind ? messages.filter((message) => message.kind === kind) : messages;
  }

  /** Delivers messages of the worker in one post. @param {...object} messages */
  say(...messages) {
    this.deliver({ text: JSON.stringify(messages), blobs: [] });
  }

  /** @param {{text: string, blobs: ArrayBuffer[]}} data */
  deliver(data) {
    this.onmessage?.({ data });
  }
}

/** Time that passes only when the test says so. */
export class FakeClock {
  #now = 0;
  /** @type {Set<{due: number, then: () => void}>} */
  #timers = new Set();

  now() {
    return this.#now;
  }

  /** @param {number} milliseconds @param {() => void} then */
  after(milliseconds, then) {
    const timer = { due: this.#now + milliseconds, then };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  get running() {
    return this.#timers.size;
  }

  /** Lets time pass and runs what falls due, in order. @param {number} milliseconds */
  pass(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.then();
    }
    this.#now = end;
  }

  /** The tab sleeps: time passes, and timers run late, all at once. @param {number} milliseconds */
  sleep(milliseconds) {
    this.#now += milliseconds;
    this.pass(0);
  }
}

/** A signal that counts its listeners. */
export function countingSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (/** @type {any[]} */ ...args) => {
    listeners++;
    return /** @type {any} */ (add)(...args);
  };
  signal.removeEventListener = (/** @type {any[]} */ ...args) => {
    listeners--;
    return /** @type {any} */ (remove)(...args);
  };
  return { signal, abort: (/** @type {unknown} */ reason = undefined) => controller.abort(reason), listeners: () => listeners };
}

/** Lets everything that is ready run. */
export function settled() {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Collects rejections that nobody handled while `work` runs. @param {() => Promise<void>} work */
export async function unhandledDuring(work) {
  /** @type {unknown[]} */
  const unhandled = [];
  const listener = (/** @type {unknown} */ reason) => unhandled.push(reason);
  process.on("unhandledRejection", listener);
  try {
    await work();
    await settled();
    await settled();
  } finally {
    process.off("unhandledRejection", listener);
  }
  return unhandled;
}

/**
 * The golden messages of `tests/wire/`.
 * @param {"to_worker" | "to_page"} direction
 * @returns {{name: string, messages: any[], text: string, blobs: Uint8Array[]}[]}
 */
export function golden(direction) {
  const cases = JSON.parse(readFileSync(new URL(`../wire/${direction}.json`, import.meta.url), "utf8"));
  return cases.map((/** @type {any} */ { name, messages, text, blobs }) => ({
    name,
    messages: revive(messages),
    text,
    blobs: blobs.map(fromBase64),
  }));
}

/** @param {any} value @returns {any} */
function revive(value) {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === "!bytes") return fromBase64(value["!bytes"]);
  if (keys.length === 1 && keys[0] === "!int") return BigInt(value["!int"]);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]));
}

/** @param {string} text */
function fromBase64(text) {
  return Uint8Array.from(Buffer.from(text, "base64"));
}

/** @param {Uint8Array} bytes */
export function bufferOf(bytes) {
  return bytes.slice().buffer;
}

/** The Cache API, for as long as a test runs. */
export class FakeCaches {
  /** @type {Map<string, Map<string, Response>>} */
  #caches = new Map();

  /** Puts a new one in the place of the global. */
  static install() {
    const caches = new FakeCaches();
    Object.assign(globalThis, { caches });
    return caches;
  }

  static remove() {
    Reflect.deleteProperty(globalThis, "caches");
  }

  /** @param {string} name */
  async open(name) {
    /** @type {Map<string, Response>} */
    const kept = this.#caches.get(name) ?? new Map();
    this.#caches.set(name, kept);
    return {
      match: async (/** @type {string} */ url) => kept.get(url)?.clone(),
      put: async (/** @type {string} */ url, /** @type {Response} */ response) => void kept.set(url, response),
      delete: async (/** @type {{url: string}} */ { url }) => kept.delete(url),
      keys: async () => [...kept.keys()].map((url) => ({ url })),
    };
  }
}

/**
 * A zip without compression, as the build writes them.
 * @param {Record<string, string>} files
 */
export function zipped(files) {
  const [locals, entries] = [/** @type {Buffer[]} */ ([]), /** @type {Buffer[]} */ ([])];
  let offset = 0;
  for (const path of Object.keys(files).sort()) {
    const [name, body] = [Buffer.from(path), Buffer.from(files[path] ?? "")];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt32LE(body.length, 18);
    local.writeUInt32LE(body.length, 22);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    local.copy(entry, 20, 18, 28);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, name, body);
    entries.push(entry, name);
    offset += local.length + name.length + body.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...locals, ...entries, end]));
}
