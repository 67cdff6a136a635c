// @ts-check
/**
 * Values as they cross: JSON text, with bytes and large integers set apart by their paths.
 */

import { LIMITS } from "../worker/protocol.js";
import { notPortable } from "./errors.js";

/** @typedef {import("../worker/protocol.js").Path} Path */
/**
 * A post in the making; `blobs` is complete once `reading` is done.
 * @typedef {{text: string, blobs: ArrayBuffer[], reading?: Promise<unknown>}} Packed
 */

/**
 * Makes a post of one message. Bytes are copied before it returns; Blobs are read afterwards.
 * @param {object} message
 * @returns {Packed}
 * @throws {import("./errors.js").LangfxError} `not_portable`, `message_too_deep`, `message_too_large`
 */
export function pack(message) {
  const packing = new Packing();
  // The batch and the message are two of the levels that are counted.
  const plain = packing.walk(message, 2);
  const { big, blobs, sources } = packing;
  if (big.length) plain.big = big;
  if (blobs.length) plain.blobs = blobs;
  const size = sources.reduce(
    (sum, source) => sum + (source instanceof Uint8Array ? source.byteLength : source.size),
    0,
  );
  if (size > LIMITS.blobs) throw tooLarge("bytes", size, LIMITS.blobs);
  const text = JSON.stringify([plain]);
  if (text.length > LIMITS.text) throw tooLarge("text", text.length, LIMITS.text);
  return { text, ...fill(sources, blobs) };
}

/**
 * The same post with an id in its one message, which had none.
 * @param {Packed} packed
 * @param {number} id
 * @returns {Packed}
 */
export function addressed(packed, id) {
  return { ...packed, text: `[{"id":${id},${packed.text.slice(2)}` };
}

/**
 * Copies bytes at once and reads Blobs in the background.
 * @param {(Uint8Array | Blob)[]} sources
 * @param {Path[]} paths
 */
function fill(sources, paths) {
  /** @type {ArrayBuffer[]} */
  const blobs = [];
  /** @type {Promise<void>[]} */
  const reads = [];
  sources.forEach((source, index) => {
    if (source instanceof Uint8Array) {
      blobs[index] = source.slice().buffer;
      return;
    }
    const read = source.arrayBuffer().then(
      (buffer) => void (blobs[index] = buffer),
      (error) => {
        throw notPortable("not_portable", `The Blob at ${spell(paths[index])} cannot be read: ${error}`, paths[index]);
      },
    );
    reads.push(read);
  });
  const reading = reads.length ? Promise.all(reads) : undefined;
  reading?.catch(() => {});
  return { blobs, reading };
}

class Packing {
  /** @type {Path[]} */
  big = [];
  /** @type {Path[]} */
  blobs = [];
  /** What the buffers at `blobs` are made from. @type {(Uint8Array | Blob)[]} */
  sources = [];
  /** @type {Path} */
  #path = [];
  /** The objects around the one being walked. @type {Set<object>} */
  #around = new Set();

  /**
   * @param {any} value
   * @param {number} depth of the value, if it is an object or array
   * @param {boolean} [asked] whether it is what a `toJSON` gave, and not to be asked again
   * @returns {any} the same as plain JSON; undefined stays undefined
   */
  walk(value, depth, asked = false) {
    switch (typeof value) {
      case "string":
        return value.toWellFormed();
      case "number":
        if (!Number.isFinite(value)) throw this.#refuse(String(value));
        return value;
      case "bigint":
        return this.#decimal(String(value));
      case "object":
        return value && this.#walkObject(value, depth, asked);
      case "boolean":
      case "undefined":
        return value;
      default:
        throw this.#refuse(`a ${typeof value}`);
    }
  }

  /** @param {string} text */
  #decimal(text) {
    if (text.length > LIMITS.digits) throw this.#refuse(`an integer of ${text.length} digits`);
    this.big.push([...this.#path]);
    return text;
  }

  /** @param {any} value @param {number} depth @param {boolean} asked @returns {any} */
  #walkObject(value, depth, asked) {
    const source = this.#bytesOf(value);
    if (source) {
      this.blobs.push([...this.#path]);
      this.sources.push(source);
      return null;
    }
    if (!asked && typeof value.toJSON === "function") {
      return this.walk(value.toJSON(String(this.#path.at(-1) ?? "")), depth, true);
    }
    if (this.#around.has(value)) throw this.#refuse("a cycle");
    if (depth > LIMITS.depth) {
      throw notPortable("message_too_deep", `A message may be ${LIMITS.depth} levels deep.`, [...this.#path]);
    }
    this.#around.add(value);
    const plain = this.#walkInside(value, depth);
    this.#around.delete(value);
    return plain;
  }

  /** @param {any} value */
  #bytesOf(value) {
    try {
      return bytesOf(value);
    } catch {
      throw this.#refuse("a detached buffer");
    }
  }

  /** @param {any} value @param {number} depth */
  #walkInside(value, depth) {
    if (Array.isArray(value)) return Array.from(value, (item, index) => this.#step(index, item, depth) ?? null);
    if (!isPlain(value)) throw this.#refuse(`a ${value.constructor?.name || "class instance"}`);
    // Without a prototype, a key "__proto__" is a key like any other.
    const plain = Object.create(null);
    for (const key of Object.keys(value)) {
      const name = key.toWellFormed();
      plain[name] = this.#step(name, value[key], depth);
    }
    return plain;
  }

  /** @param {string | number} key @param {any} value @param {number} depth */
  #step(key, value, depth) {
    this.#path.push(key);
    const plain = this.walk(value, depth + 1);
    this.#path.pop();
    return plain;
  }

  /** @param {string} what */
  #refuse(what) {
    const path = [...this.#path];
    return notPortable("not_portable", `The value at ${spell(path)} cannot go to Python: it is ${what}.`, path);
  }
}

/**
 * Bytes and Blobs of any realm, told by their brand and not by their class.
 * @param {any} value
 * @returns {Uint8Array | Blob | undefined}
 */
function bytesOf(value) {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const brand = Object.prototype.toString.call(value).slice(8, -1);
  if (brand === "ArrayBuffer" || brand === "SharedArrayBuffer") return new Uint8Array(value);
  return brand === "Blob" || brand === "File" ? value : undefined;
}

/** @param {object} value of any realm */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {Path} path */
function spell(path) {
  return path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
}

/** @param {string} what @param {number} size @param {number} limit */
function tooLarge(what, size, limit) {
  return notPortable("message_too_large", `A message has ${size} of ${what}; the limit is ${limit}.`, []);
}

/**
 * Reads a post: JSON, with bytes as `Uint8Array` and large integers as `BigInt` put back.
 * @param {import("../worker/protocol.js").Post} post
 * @returns {any[]} messages
 */
export function unpack({ text, blobs }) {
  let messages = JSON.parse(text);
  if (!text.isWellFormed() || /\\u[dD][89a-fA-F]/.test(text)) messages = wellFormed(messages);
  let next = 0;
  for (const message of messages) {
    for (const path of message.big ?? []) replace(message, path, BigInt);
    for (const path of message.blobs ?? []) replace(message, path, () => new Uint8Array(blobs[next++]));
    delete message.big;
    delete message.blobs;
  }
  return messages;
}

/**
 * @param {any} message
 * @param {Path} path
 * @param {(value: any) => any} change
 */
function replace(message, path, change) {
  const last = path[path.length - 1];
  const holder = path.slice(0, -1).reduce((value, key) => value[key], message);
  holder[last] = change(holder[last]);
}

/** @param {any} value @returns {any} the same, with U+FFFD for lone surrogates */
function wellFormed(value) {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}
