// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { LIMITS } from "../../worker/protocol.js";
import { Channel } from "../../web/channel.js";
import { workerStopped } from "../../web/errors.js";
import { countingSignal, FakeClock, FakeEndpoint, settled } from "./fakes.js";

const CALL = { kind: "call", target: "m:f", args: [] };
const STREAM = { kind: "stream", target: "m:g", args: [] };

/** @param {object} [options] */
function open(options) {
  const endpoint = new FakeEndpoint();
  const clock = new FakeClock();
  return { endpoint, clock, channel: new Channel(endpoint, { clock, ...options }) };
}

/** A Blob whose bytes come when the test says so. */
function slowBlob() {
  const blob = new Blob(["x"]);
  const { promise, resolve, reject } = settler();
  blob.arrayBuffer = () => promise;
  return { blob, arrive: () => resolve(new Uint8Array([120]).buffer), fail: () => reject(new Error("gone")) };
}

function settler() {
  /** @type {any} */
  let handles;
  const promise = new Promise((resolve, reject) => (handles = { resolve, reject }));
  return { promise, ...handles };
}

const wireError = {
  code: "target_not_found",
  name: "TargetNotFoundError",
  message: "No m:f.",
  retryable: false,
  details: { target: "m:f" },
};

test("an answer resolves the call that has its id, in any order", async () => {
  const { endpoint, channel } = open();
  const calls = [channel.ask(CALL), channel.ask(CALL)];
  assert.deepEqual(
    endpoint.sent().map(({ id }) => id),
    [1, 2],
  );
  endpoint.say({ kind: "result", id: 2, value: "two" }, { kind: "result", id: 1, value: "one" });
  assert.deepEqual(await Promise.all(calls), ["one", "two"]);
});

test("an error rejects with name, code, retryable and details", async () => {
  const { endpoint, channel } = open();
  const call = channel.ask(CALL);
  endpoint.say({ kind: "error", id: 1, error: wireError });
  const error = await call.then(
    () => assert.fail("resolved"),
    (reason) => reason,
  );
  assert.ok(error instanceof Error);
  const { name, code, message, retryable, details } = /** @type {any} */ (error);
  assert.deepEqual({ name, code, message, retryable, details }, wireError);
});

test("after its end a command is deaf: late messages are dropped", async () => {
  const { endpoint, channel } = open();
  const call = channel.ask(CALL);
  endpoint.say(
    { kind: "result", id: 1, value: 1 },
    { kind: "result", id: 1, value: 2 },
    { kind: "error", id: 1, error: wireError },
  );
  endpoint.say({ kind: "result", id: 99, value: 3 }, { kind: "new_kind" });
  assert.equal(await call, 1);
});

test("what cannot cross rejects that call alone, and nothing is posted", async () => {
  const { endpoint, channel } = open();
  await assert.rejects(channel.ask({ ...CALL, args: [new Map()] }), { code: "not_portable" });
  assert.equal(endpoint.posts.length, 0);
  const next = channel.ask(CALL);
  endpoint.say({ kind: "result", id: endpoint.sent()[0].id, value: 1 });
  assert.equal(await next, 1);
});

test("a stream gives its items in order, then ends", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["a", "b"] });
  endpoint.say({ kind: "items", id: 1, items: ["c"] }, { kind: "end", id: 1, value: null, count: 3 });
  assert.deepEqual(await collect(stream), ["a", "b", "c"]);
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
});

test("a stream that fails gives what came before, then throws", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["a"] }, { kind: "error", id: 1, error: wireError });
  assert.deepEqual(await stream.next(), { done: false, value: "a" });
  await assert.rejects(stream.next(), { code: "target_not_found" });
});

test("a reader that waits is woken by the next item", async () => {
  const { endpoint, channel } = open();
  const next = channel.stream(STREAM).next();
  await settled();
  endpoint.say({ kind: "items", id: 1, items: ["late"] });
  assert.deepEqual(await next, { done: false, value: "late" });
});

test("credit is returned when half the window is read, and not before", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: Array(LIMITS.windowItems).fill(0) });
  await settled();
  assert.deepEqual(endpoint.sent("credit"), []);
  for (let item = 1; item < LIMITS.windowItems / 2; item++) await stream.next();
  assert.deepEqual(endpoint.sent("credit"), []);
  await stream.next();
  const [credit] = endpoint.sent("credit");
  assert.equal(credit.id, 1);
  assert.equal(credit.items, LIMITS.windowItems / 2);
  assert.ok(credit.bytes > 0);
});

test("large items return credit by their size", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["x".repeat(LIMITS.windowBytes / 2)] });
  await stream.next();
  const [credit] = endpoint.sent("credit");
  assert.equal(credit.items, 1);
  assert.ok(credit.bytes >= LIMITS.windowBytes / 2);
});

test("bytes return credit by their size, too", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  const text = JSON.stringify([{ kind: "items", id: 1, items: [null], blobs: [["items", 0]] }]);
  endpoint.deliver({ text, blobs: [new ArrayBuffer(LIMITS.windowBytes)] });
  await stream.next();
  assert.ok(endpoint.sent("credit")[0].bytes >= LIMITS.windowBytes);
});

test("credit covers the items whatever else is in their posts", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  channel.stream(STREAM);
  const item = "x".repeat(3000);
  for (let post = 0; post < 200; post++) {
    const log = { kind: "log", level: "info", text: "t" };
    endpoint.say(log, { kind: "items", id: 2, items: [1] }, { kind: "items", id: 1, items: [item] }, log);
    await stream.next();
  }
  const granted = endpoint.sent("credit").reduce((sum, { bytes }) => sum + bytes, 0);
  const unreported = LIMITS.windowBytes / 2;
  assert.ok(granted + unreported >= 200 * item.length, "no part of the window is lost");
});

test("no credit is posted for a stream that has ended", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: Array(200).fill(0) }, { kind: "end", id: 1, value: null, count: 200 });
  assert.equal((await collect(stream)).length, 200);
  assert.deepEqual(endpoint.sent("credit"), []);
});

test("items after the end still arrive until the count is reached", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["a"] }, { kind: "end", id: 1, value: null, count: 2 });
  const all = collect(stream);
  await settled();
  endpoint.say({ kind: "items", id: 1, items: ["b"] });
  assert.deepEqual(await all, ["a", "b"]);
});

test("leaving the loop cancels the stream once", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["a", "b"] });
  for await (const item of stream) {
    assert.equal(item, "a");
    break;
  }
  await stream.return();
  assert.deepEqual(endpoint.sent("cancel"), [{ kind: "cancel", id: 1 }]);
  endpoint.say({ kind: "error", id: 1, error: { ...wireError, code: "cancelled" } });
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
});

test("reading to the end cancels nothing", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "end", id: 1, value: null, count: 0 });
  assert.deepEqual(await collect(stream), []);
  assert.deepEqual(endpoint.sent("cancel"), []);
});

test("readable gives NDJSON, with large integers as decimal text", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.deliver({
    text: '[{"kind":"items","id":1,"items":[{"n":"100000000000000000000"},"ü"],"big":[["items",0,"n"]]}]',
    blobs: [],
  });
  endpoint.say({ kind: "end", id: 1, value: null, count: 2 });
  assert.equal(await new Response(stream.readable).text(), '{"n":"100000000000000000000"}\n"ü"\n');
});

test("cancelling readable cancels the stream, also while it waits", async () => {
  const { endpoint, channel } = open();
  const reader = channel.stream(STREAM).readable.getReader();
  const waiting = reader.read();
  await reader.cancel();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.equal(endpoint.sent("cancel").length, 1);
});

test("an aborted signal cancels the call, which rejects with the reason at its own end", async () => {
  const { endpoint, channel } = open();
  const { signal, abort, listeners } = countingSignal();
  const call = channel.ask(CALL, { signal });
  assert.equal(listeners(), 1);
  const reason = new Error("enough");
  abort(reason);
  assert.deepEqual(endpoint.sent("cancel"), [{ kind: "cancel", id: 1 }]);
  endpoint.say({ kind: "error", id: 1, error: { ...wireError, code: "cancelled" } });
  await assert.rejects(call, reason);
  assert.equal(listeners(), 0);
});

test("a result that beats the cancel is kept", async () => {
  const { endpoint, channel, clock } = open();
  const controller = new AbortController();
  const call = channel.ask(CALL, { signal: controller.signal });
  controller.abort();
  endpoint.say({ kind: "result", id: 1, value: "done" });
  assert.equal(await call, "done");
  assert.equal(clock.running, 0);
});

test("with an aborted signal nothing is posted", async () => {
  const { endpoint, channel } = open();
  const reason = new Error("before");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(channel.ask(CALL, { signal }), reason);
  await assert.rejects(channel.stream(STREAM, { signal }).next(), reason);
  assert.equal(endpoint.posts.length, 0);
});

test("a cancel without an end is given up after five seconds", async () => {
  const { endpoint, channel, clock } = open();
  const controller = new AbortController();
  const call = channel.ask(CALL, { signal: controller.signal });
  const outcome = assert.rejects(call, { name: "AbortError", code: "cancelled", details: { unresponsive: true } });
  controller.abort();
  clock.pass(LIMITS.cancel - 1);
  await settled();
  clock.pass(1);
  await outcome;
  endpoint.say({ kind: "result", id: 1, value: "late" });
  assert.equal(clock.running, 0);
});

test("platform 25: one signal on 200 commands: no listener stays, whatever their end", async () => {
  const { endpoint, channel } = open();
  const { signal, abort, listeners } = countingSignal();
  for (let id = 1; id <= 198; id += 2) {
    const call = channel.ask(CALL, { signal }).catch(() => {});
    const stream = channel.stream(STREAM, { signal });
    assert.equal(listeners(), 2);
    endpoint.say(id % 4 === 1 ? { kind: "result", id, value: 1 } : { kind: "error", id, error: wireError });
    endpoint.say({ kind: "end", id: id + 1, value: null, count: 0 });
    await Promise.all([call, collect(stream)]);
    assert.equal(listeners(), 0);
  }
  await channel.ask({ ...CALL, args: [NaN] }, { signal }).catch(() => {});
  await channel.stream(STREAM, { signal }).return();
  assert.equal(listeners(), 0);
  abort();
});

test("a command that reads a Blob holds those behind it, except cancels", async () => {
  const { endpoint, channel } = open();
  const { blob, arrive } = slowBlob();
  const before = channel.open(CALL, { error: () => {} });
  const call = { ...CALL, args: [blob] };
  channel.open(call, { error: () => {} });
  channel.open(STREAM, { error: () => {} });
  before.cancel();
  channel.open({ kind: "session_cancel" }, { error: () => {} }, { urgent: true });
  assert.deepEqual(
    endpoint.sent().map(({ kind }) => kind),
    ["call", "cancel", "session_cancel"],
  );
  arrive();
  await settled();
  assert.deepEqual(
    endpoint.sent().map(({ kind, id }) => [kind, id]),
    [
      ["call", 1],
      ["cancel", 1],
      ["session_cancel", 2],
      ["call", 3],
      ["stream", 4],
    ],
    "ids grow in the order of leaving",
  );
  assert.equal(endpoint.posts.at(-2)?.blobs[0].byteLength, 1);
  channel.open(CALL, { error: () => {} });
  assert.equal(endpoint.sent().at(-1).id, 5, "nothing waits any more");
});

test("a Blob that fails rejects its command; those behind it leave in their order", async () => {
  const { endpoint, channel } = open();
  const [first, second] = [slowBlob(), slowBlob()];
  const calls = [first, second].map(({ blob }) => channel.ask({ ...CALL, args: [blob] }));
  channel.ask(CALL);
  second.fail();
  await settled();
  assert.equal(endpoint.posts.length, 0);
  first.arrive();
  await assert.rejects(calls[1], { code: "not_portable", details: { path: ["args", 0] } });
  await settled();
  assert.deepEqual(
    endpoint.sent().map(({ id }) => id),
    [1, 2],
  );
});

test("platform 24: a cancel before the post drops the command", async () => {
  const { endpoint, channel } = open();
  const { blob, arrive } = slowBlob();
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const call = channel.ask({ ...CALL, args: [blob] }, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(call, reason);
  arrive();
  await settled();
  assert.equal(endpoint.posts.length, 0);
});

test("1024 commands may be open; ends make room", async () => {
  const { endpoint, channel } = open();
  for (let count = 0; count < LIMITS.commands; count++) channel.open(CALL, { error: () => {} });
  await assert.rejects(channel.ask(CALL), { code: "too_many_commands", retryable: true });
  endpoint.say({ kind: "result", id: 1, value: null });
  const call = channel.ask(CALL);
  endpoint.say({ kind: "result", id: endpoint.sent().at(-1).id, value: "room" });
  assert.equal(await call, "room");
});

test("platform 28: at the end of the worker everything pending and everything later fails at once", async () => {
  const { endpoint, channel, clock } = open();
  const call = channel.ask(CALL);
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 2, items: ["unread"] });
  const failure = workerStopped("Python stopped.");
  channel.end(failure);
  channel.end(workerStopped("again"));
  await assert.rejects(call, failure);
  await assert.rejects(stream.next(), failure);
  await assert.rejects(channel.ask(CALL), failure);
  await assert.rejects(channel.stream(STREAM).next(), failure);
  assert.equal(endpoint.posts.length, 2);
  assert.equal(endpoint.onmessage, null);
  assert.equal(clock.running, 0);
});

test("platform 28: what has arrived cannot be read any more either", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "items", id: 1, items: ["a", "b"] }, { kind: "end", id: 1, value: null, count: 2 });
  await stream.next();
  channel.close(false);
  await assert.rejects(stream.next(), { code: "bridge_closed" });
});

test("a reader that waits for items due after the end is told when the worker goes", async () => {
  const { endpoint, channel } = open();
  const stream = channel.stream(STREAM);
  endpoint.say({ kind: "end", id: 1, value: null, count: 1 });
  const next = stream.next();
  await settled();
  channel.end(workerStopped("Python stopped."));
  await assert.rejects(next, { code: "worker_stopped" });
});

test("close posts close, fails what is pending, and resolves when the worker says closed", async () => {
  const { endpoint, channel, clock } = open();
  const call = channel.ask(CALL);
  const closing = channel.close(false);
  await assert.rejects(call, { code: "bridge_closed", retryable: false });
  await assert.rejects(channel.ask(CALL), { code: "bridge_closed" });
  assert.deepEqual(endpoint.sent().at(-1), { kind: "close", handoff: false });
  endpoint.say({ kind: "closed" });
  await closing;
  assert.equal(clock.running, 0);
});

for (const [handoff, wait] of /** @type {const} */ ([
  [false, LIMITS.close],
  [true, LIMITS.handoff],
])) {
  test(`a busy worker is waited for ${wait} ms at close${handoff ? " with handoff" : ""}`, async () => {
    const { channel, clock } = open();
    let done = false;
    const closing = channel.close(handoff).then(() => (done = true));
    clock.pass(wait - 1);
    await settled();
    assert.equal(done, false);
    clock.pass(1);
    await closing;
  });
}

test("messages without an id go to the owner; ready answers setup", async () => {
  /** @type {any[]} */
  const notices = [];
  const { endpoint, channel } = open({ notice: (/** @type {any} */ message) => notices.push(message) });
  const setup = channel.ask({ kind: "setup" });
  endpoint.say(
    { kind: "progress", phase: "download", loaded: 1, total: 2 },
    { kind: "ready", version: "1", agents: [] },
  );
  assert.deepEqual(await setup, { kind: "ready", version: "1", agents: [] });
  assert.deepEqual(notices, [{ kind: "progress", phase: "download", loaded: 1, total: 2 }]);
});

/** @param {AsyncIterable<any>} items */
async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}
