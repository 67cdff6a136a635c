// @ts-check
/** Any value crosses unchanged, both ways, compared with an end in Python that is as plain as can be. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { pack, unpack } from "../../web/values.js";

/** @typedef {{text: string, blobs: ArrayBuffer[]}} Post */

const CASES = 2000;
const KEYS = ["big", "blobs", "$blob", "kind", "id", "value", "", "ü", "__proto__"];

/** Numbers from 0 to below 1 that are the same in every run. @param {number} seed */
function random(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return (seed >>> 0) / 2 ** 32;
  };
}

/** @param {() => number} next @param {number} [depth] @returns {any} */
function anyValue(next, depth = 0) {
  const below = (/** @type {number} */ limit) => Math.floor(next() * limit);
  const some = () => Array.from({ length: below(4) });
  switch (below(depth > 4 ? 8 : 11)) {
    case 0:
      return null;
    case 1:
      return next() < 0.5;
    case 2:
      return below(1000) - 500;
    case 3:
      return (next() - 0.5) * 10 ** (below(40) - 20);
    case 4:
      return Array.from('a"\\[{😀').slice(below(6)).join("");
    case 5:
      return 2n ** 53n + BigInt(below(10 ** 9)) ** BigInt(1 + below(4));
    case 6:
      return -(2n ** BigInt(54 + below(100)));
    case 7:
      return Uint8Array.from(some(), () => below(256));
    case 8:
      return some().map(() => anyValue(next, depth + 1));
    default:
      return Object.fromEntries(some().map(() => [KEYS[below(KEYS.length)], anyValue(next, depth + 1)]));
  }
}

/** @param {any} holder @param {(string | number)[]} path @param {(value: any) => any} change */
function at(holder, path, change) {
  for (const step of path.slice(0, -1)) holder = holder[step];
  const last = path[path.length - 1];
  const value = change(holder[last]);
  // Assigning to "__proto__" would not make a field.
  Object.defineProperty(holder, last, { value, enumerable: true, configurable: true, writable: true });
}

/** What Python makes of a post. @param {Post} post */
function read({ text, blobs }) {
  const left = [...blobs];
  const messages = JSON.parse(text);
  for (const message of messages) {
    for (const path of message.blobs ?? []) at(message, path, () => new Uint8Array(/** @type {any} */ (left.shift())));
    for (const path of message.big ?? []) at(message, path, BigInt);
    delete message.blobs;
    delete message.big;
  }
  assert.equal(left.length, 0);
  return messages;
}

/** A post as Python makes it. @param {any[]} messages @returns {Post} */
function write(messages) {
  /** @type {ArrayBuffer[]} */
  const blobs = [];
  const texts = messages.map((message) => {
    /** @type {{big: any[], blobs: any[]}} */
    const paths = { big: [], blobs: [] };
    /** @param {any} value @param {any[]} path @returns {any} */
    const plain = (value, path) => {
      if (typeof value === "bigint") return (paths.big.push(path), String(value));
      if (value instanceof Uint8Array) return (paths.blobs.push(path), blobs.push(value.slice().buffer), null);
      if (Array.isArray(value)) return value.map((item, index) => plain(item, [...path, index]));
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, [...path, key])]));
    };
    const text = JSON.stringify(plain(message, []));
    const fields = Object.entries(paths).filter(([, list]) => list.length);
    return `${text.slice(0, -1)}${fields.map(([name, list]) => `,"${name}":${JSON.stringify(list)}`).join("")}}`;
  });
  return { text: `[${texts.join(",")}]`, blobs };
}

test("platform 18: whatever is given to Python is what it gets", () => {
  const next = random(1);
  for (let number = 0; number < CASES; number++) {
    const message = { kind: "call", value: anyValue(next) };
    assert.deepEqual(read(pack(message)), [message]);
  }
});

test("platform 18: whatever Python says is what the page gets, several messages to a post", () => {
  const next = random(2);
  for (let number = 0; number < CASES; number++) {
    const messages = [1, 2, 3].map((id) => ({ kind: "items", id, items: [anyValue(next), anyValue(next)] }));
    assert.deepEqual(unpack(write(messages)), messages);
  }
});
