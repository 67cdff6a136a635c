// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { LIMITS } from "../../worker/protocol.js";
import { pack, unpack } from "../../web/values.js";
import { bufferOf, golden } from "./fakes.js";

/** @param {any} value @returns {any} what Python would get for it */
function sent(value) {
  const { text } = pack({ kind: "call", id: 1, value });
  return JSON.parse(text)[0].value;
}

/** @param {any} value */
function nested(value, depth = 1) {
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

for (const { name, messages, text, blobs } of golden("to_worker")) {
  if (messages.length > 1) continue; // The page posts one message at a time.
  test(`to the worker: ${name}`, () => {
    const packed = pack(messages[0]);
    assert.deepEqual(JSON.parse(packed.text), JSON.parse(text));
    assert.deepEqual(
      packed.blobs.map((buffer) => new Uint8Array(buffer)),
      blobs,
    );
  });
}

for (const { name, messages, text, blobs } of golden("to_page")) {
  test(`to the page: ${name}`, () => {
    assert.deepEqual(unpack({ text, blobs: blobs.map(bufferOf) }), messages);
  });
}

test("undefined fields are absent, undefined items are null", () => {
  assert.deepEqual(sent({ a: undefined, b: [undefined, 1, , 2] }), { b: [null, 1, null, 2] });
});

test("a Date is its ISO text, and toJSON is asked, with the key", () => {
  const when = new Date(Date.UTC(2026, 0, 2));
  const money = { toJSON: (/** @type {string} */ key) => ({ [key]: 5n }) };
  const { text } = pack({ kind: "call", value: { when, money } });
  assert.deepEqual(JSON.parse(text), [
    {
      kind: "call",
      value: { when: "2026-01-02T00:00:00.000Z", money: { money: "5" } },
      big: [["value", "money", "money"]],
    },
  ]);
});

test("toJSON is asked once, and may give the object itself", () => {
  const again = { toJSON: () => ({ toJSON: "kept", a: 1 }) };
  const itself = { b: 2, toJSON: () => itself };
  assert.deepEqual(sent([again, { a: [again] }]), [{ toJSON: "kept", a: 1 }, { a: [{ toJSON: "kept", a: 1 }] }]);
  assert.throws(() => sent(itself), { code: "not_portable", details: { path: ["value", "toJSON"] } });
  const endless = { toJSON: () => ({ endless }) };
  assert.throws(() => sent(endless), { code: "message_too_deep" });
});

test("platform 19: large integers cross, up to what Python reads", () => {
  const { text } = pack({ kind: "call", value: [2n ** 70n, -(2n ** 63n), 1e20, 7n] });
  assert.deepEqual(JSON.parse(text)[0].value, [String(2n ** 70n), String(-(2n ** 63n)), 1e20, "7"]);
  assert.equal(sent(10n ** 4299n).length, 4300);
  assert.throws(() => sent(10n ** 4300n), { code: "not_portable", details: { path: ["value"] } });
});

test("platform 19: lone surrogates become U+FFFD, in keys and values, both ways", () => {
  assert.deepEqual(sent({ "a\ud800": "\udc00b", ok: "😀" }), { "a\ufffd": "\ufffdb", ok: "😀" });
  const text = '[{"kind":"result","id":1,"value":{"k\\udfff":["\\ud800x","\\ud83d\\ude00",1,null]}}]';
  assert.deepEqual(unpack({ text, blobs: [] }), [
    { kind: "result", id: 1, value: { "k\ufffd": ["\ufffdx", "😀", 1, null] } },
  ]);
  assert.equal(unpack({ text: '[{"value":"\ud800"}]', blobs: [] })[0].value, "\ufffd");
});

test("bytes of any kind and realm cross, and the caller's buffer stays usable", () => {
  const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
  const values = [
    buffer,
    new Uint8Array(buffer, 1, 2),
    new DataView(buffer, 2),
    new Uint16Array([258]),
    new SharedArrayBuffer(1),
    Buffer.from("x"),
    runInNewContext("new Uint8Array([9])"),
    runInNewContext("new Uint8Array([8]).buffer"),
  ];
  const packed = pack({ kind: "call", value: values });
  const got = packed.blobs.map((blob) => [...new Uint8Array(blob)]);
  assert.deepEqual(got, [[1, 2, 3, 4], [2, 3], [3, 4], [2, 1], [0], [120], [9], [8]]);
  structuredClone(null, { transfer: packed.blobs });
  assert.deepEqual([...new Uint8Array(buffer)], [1, 2, 3, 4]);
});

test("bytes are copied at once: a later change is not sent", () => {
  const bytes = new Uint8Array([1]);
  const packed = pack({ kind: "call", value: bytes });
  bytes[0] = 2;
  assert.deepEqual(new Uint8Array(packed.blobs[0]), new Uint8Array([1]));
});

test("Blobs and Files are read after packing, in their place among other bytes", async () => {
  const file = new File(["file"], "f.txt");
  const packed = pack({ kind: "call", value: [new Blob(["blob"]), new Uint8Array([1]), { file }] });
  await packed.reading;
  assert.deepEqual(
    packed.blobs.map((buffer) => Buffer.from(buffer).toString("latin1")),
    ["blob", "\x01", "file"],
  );
  assert.deepEqual(JSON.parse(packed.text)[0].blobs, [
    ["value", 0],
    ["value", 1],
    ["value", 2, "file"],
  ]);
});

test("a Blob that cannot be read is refused with its path", async () => {
  const blob = new Blob(["x"]);
  blob.arrayBuffer = () => Promise.reject(new Error("gone"));
  await assert.rejects(pack({ kind: "call", value: { photo: blob } }).reading ?? Promise.resolve(), {
    code: "not_portable",
    details: { path: ["value", "photo"] },
  });
});

test("plain objects of any realm and without a prototype cross", () => {
  assert.deepEqual(sent(runInNewContext("({ a: [1, { b: 2 }] })")), { a: [1, { b: 2 }] });
  assert.deepEqual(sent(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
});

test("the same object twice is no cycle", () => {
  const shared = { a: 1 };
  assert.deepEqual(sent([shared, shared, { shared }]), [{ a: 1 }, { a: 1 }, { shared: { a: 1 } }]);
});

function detached() {
  const { buffer } = new Uint8Array(1);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

const cycle = { inside: [/** @type {any} */ (null)] };
cycle.inside[0] = cycle;
const refused = {
  NaN: NaN,
  infinity: -Infinity,
  "a Map": new Map([[1, 2]]),
  "a Set": new Set([1]),
  "a function": () => {},
  "a symbol": Symbol("s"),
  "a cycle": cycle,
  "a promise": Promise.resolve(1),
  "a class instance": new (class Order {})(),
  "an Error": new Error("no"),
  "a detached buffer": detached(),
  "a Map of another realm": runInNewContext("new Map()"),
};
for (const [name, value] of Object.entries(refused)) {
  test(`${name} is refused with the path to it`, () => {
    const path = name === "a cycle" ? ["value", "list", 1, "inside", 0] : ["value", "list", 1];
    assert.throws(() => pack({ kind: "call", value: { list: [0, value] } }), {
      name: "NotPortableError",
      code: "not_portable",
      retryable: false,
      details: { path },
    });
  });
}

test("platform 19: 200 levels of JSON text are the limit", () => {
  // The batch, the message and the innermost array are levels, too.
  assert.doesNotThrow(() => pack({ kind: "call", value: nested([], LIMITS.depth - 3) }));
  assert.throws(() => pack({ kind: "call", value: nested([], LIMITS.depth - 2) }), { code: "message_too_deep" });
  assert.throws(() => pack({ kind: "call", value: nested([], 300) }), { code: "message_too_deep" });
});

test("depth counts nesting, not brackets in text", () => {
  assert.equal(sent("[".repeat(5000)).length, 5000);
});

test("text and bytes over the limits are refused before anything is copied", () => {
  const over = new Blob([]);
  Object.defineProperty(over, "size", { value: LIMITS.blobs });
  over.arrayBuffer = () => assert.fail("read");
  assert.throws(() => pack({ kind: "call", value: [over, new Uint8Array(1)] }), { code: "message_too_large" });
  assert.throws(() => pack({ kind: "call", value: "x".repeat(LIMITS.text) }), { code: "message_too_large" });
  assert.doesNotThrow(() => pack({ kind: "call", value: "x".repeat(LIMITS.text - 100) }));
});

test("platform 20: user data named like our fields is just data", () => {
  const value = { big: [["value", "x"]], blobs: [["value"]], $blob: 0, x: "7", kind: "cancel", id: 9 };
  const message = { kind: "result", id: 1, value };
  const { text, blobs } = pack(message);
  assert.deepEqual(JSON.parse(text), [message]);
  assert.deepEqual(unpack({ text, blobs }), [message]);
});

test("a key __proto__ is a key, both ways", () => {
  const value = JSON.parse('{"__proto__": {"a": 1}}');
  const { text } = pack({ kind: "call", value });
  assert.equal(text, '[{"kind":"call","value":{"__proto__":{"a":1}}}]');
  const [message] = unpack({
    text: '[{"value":{"__proto__":{"big":"7"}},"big":[["value","__proto__","big"]]}]',
    blobs: [],
  });
  assert.equal(Object.getPrototypeOf(message.value), Object.prototype);
  assert.equal(message.value["__proto__"].big, 7n);
});
