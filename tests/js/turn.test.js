// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { LIMITS } from "../../worker/protocol.js";
import { Channel } from "../../web/channel.js";
import { bridgeClosed } from "../../web/errors.js";
import { Agent } from "../../web/session.js";
import { countingSignal, FakeClock, FakeEndpoint, settled, unhandledDuring } from "./fakes.js";

const ACCEPTED = { kind: "accepted", id: 1, value: { messageId: "m-1", sessionId: "chat" } };
const RESULT = { messageId: "m-1", stopReason: "end_turn", usage: null, error: null, epoch: 1, repeated: false };
const LINES = ["turn_start", "thought_delta", "text_delta", "turn_yield", "turn_resume", "text_delta", "turn_end"].map(
  (type, index) => ({ type, delta: String(index), messageId: "m-1", epoch: 1, cursor: index + 1 }),
);
const SHOWN = LINES.filter(({ type }) => type.endsWith("delta"));
const FAILED = {
  code: "input_too_large",
  name: "InputTooLargeError",
  message: "Too large.",
  retryable: false,
  details: {},
};
const wireCancelled = { code: "cancelled", name: "AbortError", message: "cancelled", retryable: false, details: {} };

function open() {
  const endpoint = new FakeEndpoint();
  const clock = new FakeClock();
  const channel = new Channel(endpoint, { clock });
  return { endpoint, clock, channel, session: new Agent(channel, "support").session("chat") };
}

/** @param {AsyncIterable<any>} items */
async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/** @param {FakeEndpoint} endpoint @param {number} [id] */
function playAll(endpoint, id = 1) {
  endpoint.say({ ...ACCEPTED, id }, { kind: "items", id, items: LINES });
  endpoint.say({ kind: "end", id, value: RESULT, count: LINES.length });
}

test("a turn gives accepted, its events and its result", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  assert.equal(turn.messageId, "m-1");
  assert.deepEqual(endpoint.sent(), [
    { kind: "session_prompt", id: 1, agent: "support", session: "chat", input: "Hi", messageId: "m-1" },
  ]);
  playAll(endpoint);
  assert.deepEqual(await turn.accepted, { messageId: "m-1", sessionId: "chat" });
  assert.deepEqual(await collect(turn), SHOWN);
  assert.deepEqual(await turn.result, RESULT);
});

test("every reader gets all events from the first one, also side by side and afterwards", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  const both = [collect(turn), collect(turn)];
  await settled();
  playAll(endpoint);
  assert.deepEqual(await Promise.all(both), [SHOWN, SHOWN]);
  assert.deepEqual(await collect(turn), SHOWN);
});

test("leaving the loop cancels nothing, and the turn can be read again", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  playAll(endpoint);
  for await (const event of turn) {
    assert.equal(event.type, "thought_delta");
    break;
  }
  assert.deepEqual(
    endpoint.sent().map(({ kind }) => kind),
    ["session_prompt"],
  );
  assert.deepEqual(await collect(turn), SHOWN);
});

test("readable has every line as NDJSON, from the first one each time", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  playAll(endpoint);
  const expected = LINES.map((line) => `${JSON.stringify(line)}\n`).join("");
  assert.equal(await new Response(turn.readable).text(), expected);
  assert.equal(await new Response(turn.readable).text(), expected);
});

test("readable can be cancelled while the turn is silent", async () => {
  const { session } = open();
  const reader = session.prompt("Hi").readable.getReader();
  const waiting = reader.read();
  await reader.cancel();
  assert.deepEqual(await waiting, { done: true, value: undefined });
});

test("platform 23: a turn that nobody reads settles, and neither end keeps more for it than its window", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  const items = Array(LIMITS.windowItems).fill(LINES[2]);
  endpoint.say(ACCEPTED, { kind: "items", id: 1, items }, { kind: "end", id: 1, value: RESULT, count: 5000 });
  assert.deepEqual(await turn.result, RESULT);
  assert.deepEqual(endpoint.sent("credit"), [], "without credit the worker sends nothing more");
  assert.deepEqual(endpoint.sent("cancel"), [{ kind: "cancel", id: 1 }], "the rest stays where it is stored");
});

test("platform 23: a turn that is read after its end is read on from the stored lines", async () => {
  const { endpoint, session, clock } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  endpoint.say(ACCEPTED, { kind: "items", id: 1, items: LINES.slice(0, 2) });
  endpoint.say({ kind: "end", id: 1, value: RESULT, count: LINES.length });
  endpoint.say({ kind: "items", id: 1, items: LINES.slice(2, 3) });
  const left = turn[Symbol.asyncIterator]();
  await left.next();
  const waiting = left.next();
  await settled();
  assert.deepEqual(endpoint.sent().at(-1), {
    kind: "session_stream",
    id: 2,
    agent: "support",
    session: "chat",
    cursor: 2,
  });
  const other = { ...LINES[2], messageId: "m-0" };
  endpoint.say({ kind: "items", id: 2, items: [other, LINES[2]] });
  await waiting;
  assert.deepEqual(endpoint.sent("credit"), [{ kind: "credit", id: 2, items: 1, bytes: 0 }]);
  await left.return();
  assert.deepEqual(endpoint.sent("cancel").at(-1), { kind: "cancel", id: 2 });
  endpoint.say({ kind: "items", id: 2, items: [LINES[3]] }, { kind: "error", id: 2, error: wireCancelled });
  const both = [collect(turn), new Response(turn.readable).text()];
  await settled();
  assert.deepEqual(endpoint.sent().at(-1).cursor, 3);
  assert.equal(endpoint.sent("session_stream").length, 2, "for all readers together");
  endpoint.say({ kind: "items", id: 3, items: LINES.slice(3) });
  assert.deepEqual(await both[0], SHOWN);
  assert.equal(await both[1], LINES.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assert.deepEqual(endpoint.sent("cancel").at(-1), { kind: "cancel", id: 3 });
  endpoint.say({ kind: "error", id: 3, error: wireCancelled });
  assert.equal(clock.running, 0);
});

test("reading on can fail", async () => {
  const { endpoint, channel, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  endpoint.say(ACCEPTED, { kind: "end", id: 1, value: RESULT, count: 3 });
  const reading = collect(turn);
  await settled();
  endpoint.say({ kind: "error", id: 2, error: FAILED });
  await assert.rejects(reading, { code: "input_too_large" });
  const other = session.prompt("Hi", { messageId: "m-1" });
  endpoint.say({ ...ACCEPTED, id: 3 }, { kind: "end", id: 3, value: RESULT, count: 3 });
  const late = collect(other);
  await settled();
  channel.end(bridgeClosed());
  await assert.rejects(late, { code: "bridge_closed" });
  await assert.rejects(collect(other), { code: "bridge_closed" });
});

test("the lines that are due after the result come as they are read", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  const count = 4 * LIMITS.windowItems;
  const line = (/** @type {number} */ cursor) => ({ ...LINES[2], cursor });
  let cursor = 0;
  const send = (/** @type {number} */ items) => {
    endpoint.say({ kind: "items", id: 1, items: Array.from({ length: items }, () => line(++cursor)) });
  };
  endpoint.say(ACCEPTED);
  send(LIMITS.windowItems);
  const reading = collect(turn);
  endpoint.say({ kind: "end", id: 1, value: RESULT, count });
  for (let credits = 0; cursor < count;) {
    await settled();
    const granted = endpoint.sent("credit");
    assert.ok(granted.length > credits, "the reader asks for more");
    for (const credit of granted.slice(credits)) send(Math.min(credit.items, count - cursor));
    credits = granted.length;
  }
  assert.deepEqual(
    (await reading).map((event) => event.cursor),
    Array.from({ length: count }, (_, index) => index + 1),
  );
  assert.deepEqual(await turn.result, RESULT);
});

test("an input that was never stored rejects accepted and result, and readers throw", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi");
  endpoint.say({ kind: "error", id: 1, error: FAILED });
  for (const outcome of [turn.accepted, turn.result, collect(turn), new Response(turn.readable).text()]) {
    await assert.rejects(outcome, { code: "input_too_large" });
  }
});

test("an input that cannot cross rejects in the same way", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt(/** @type {any} */ ([{ type: "text", text: new Map() }]));
  await assert.rejects(turn.accepted, { code: "not_portable", details: { path: ["input", 0, "text"] } });
  await assert.rejects(turn.result, { code: "not_portable" });
  assert.equal(endpoint.posts.length, 0);
});

test("the end of the worker rejects the result and throws to readers at once", async () => {
  const { endpoint, channel, session } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  endpoint.say(ACCEPTED, { kind: "items", id: 1, items: LINES.slice(0, 3) });
  channel.end(bridgeClosed());
  assert.equal((await turn.accepted).sessionId, "chat");
  await assert.rejects(turn.result, { code: "bridge_closed" });
  await assert.rejects(collect(turn), { code: "bridge_closed" });
  await assert.rejects(session.prompt("again").result, { code: "bridge_closed" });
});

test("failures that nobody awaits are no unhandled rejections", async () => {
  const unhandled = await unhandledDuring(async () => {
    const { endpoint, session, channel } = open();
    session.prompt("stored never");
    endpoint.say({ kind: "error", id: 1, error: FAILED });
    session.prompt("aborted", { signal: AbortSignal.abort() });
    session.prompt("worker gone");
    channel.end(bridgeClosed());
  });
  assert.deepEqual(unhandled, []);
});

test("a signal that is aborted already: nothing is posted, accepted rejects, the result is cancelled", async () => {
  const { endpoint, session } = open();
  const { signal, abort, listeners } = countingSignal();
  const reason = new Error("before");
  abort(reason);
  const turn = session.prompt("Hi", { messageId: "m-1", signal });
  await assert.rejects(turn.accepted, reason);
  assert.deepEqual(await turn.result, {
    messageId: "m-1",
    stopReason: "cancelled",
    usage: null,
    error: null,
    epoch: 0,
    repeated: false,
  });
  assert.deepEqual(await collect(turn), []);
  assert.deepEqual([endpoint.posts.length, listeners()], [0, 0]);
});

test("aborted while a Blob is read: dropped like one that was aborted before", async () => {
  const { endpoint, session } = open();
  const { signal, abort, listeners } = countingSignal();
  const blob = new Blob(["x"]);
  blob.arrayBuffer = () => new Promise(() => {});
  const turn = session.prompt([{ type: "image", data: blob }], { signal });
  const reason = new Error("changed my mind");
  abort(reason);
  await assert.rejects(turn.accepted, reason);
  assert.equal((await turn.result).stopReason, "cancelled");
  assert.deepEqual([endpoint.posts.length, listeners()], [0, 0]);
});

test("cancelled before it was stored: accepted rejects, the result is cancelled", async () => {
  const { endpoint, session } = open();
  const turn = session.prompt("Hi");
  endpoint.say({ kind: "error", id: 1, error: wireCancelled });
  await assert.rejects(turn.accepted, { code: "cancelled" });
  assert.equal((await turn.result).stopReason, "cancelled");
  assert.deepEqual(await collect(turn), []);
});

test("aborted later: this message is cancelled, and the turn ends by its own end", async () => {
  const { endpoint, session, clock } = open();
  const { signal, abort, listeners } = countingSignal();
  const turn = session.prompt("Hi", { messageId: "m-1", signal });
  endpoint.say(ACCEPTED);
  assert.equal(listeners(), 1);
  abort();
  assert.deepEqual(endpoint.sent().at(-1), {
    kind: "session_cancel",
    id: 2,
    agent: "support",
    session: "chat",
    messageId: "m-1",
  });
  endpoint.say({ kind: "result", id: 2, value: "cancelled" });
  await settled();
  const cancelled = { ...RESULT, stopReason: "cancelled" };
  endpoint.say({ kind: "end", id: 1, value: cancelled, count: 0 });
  assert.deepEqual(await turn.result, cancelled);
  assert.deepEqual([listeners(), clock.running], [0, 0]);
});

test("aborted after the end: nothing happens", async () => {
  const { endpoint, session } = open();
  const { signal, abort, listeners } = countingSignal();
  const turn = session.prompt("Hi", { messageId: "m-1", signal });
  playAll(endpoint);
  assert.deepEqual(await turn.result, RESULT);
  assert.equal(listeners(), 0);
  abort();
  assert.deepEqual(endpoint.sent("session_cancel"), []);
});

test("platform 25: 200 turns on one signal leave no listener", async () => {
  const { endpoint, session } = open();
  const { signal, listeners } = countingSignal();
  for (let id = 1; id <= 200; id++) {
    const turn = session.prompt("Hi", { messageId: `m-${id}`, signal });
    assert.equal(listeners(), 1);
    if (id % 2) playAll(endpoint, id);
    else endpoint.say({ kind: "error", id, error: FAILED });
    await turn.result.catch(() => {});
    assert.equal(listeners(), 0);
  }
});

test("cancel says what it hit; without an id it means the open turn", async () => {
  const { endpoint, session } = open();
  const outcome = session.cancel();
  assert.deepEqual(endpoint.sent(), [{ kind: "session_cancel", id: 1, agent: "support", session: "chat" }]);
  endpoint.say({ kind: "result", id: 1, value: "none" });
  assert.equal(await outcome, "none");
});

test("a worker too busy to answer a cancel: the turn is cancelled as unresponsive after five seconds", async () => {
  const { endpoint, session, clock } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  endpoint.say(ACCEPTED, { kind: "items", id: 1, items: LINES.slice(0, 3) });
  const cancel = session.cancel();
  const reading = collect(turn);
  clock.pass(LIMITS.cancel);
  await assert.rejects(cancel, { code: "cancelled", details: { unresponsive: true } });
  const result = await turn.result;
  assert.equal(result.stopReason, "cancelled");
  assert.deepEqual(result.error.details, { unresponsive: true });
  assert.deepEqual(await reading, SHOWN.slice(0, 2));
  endpoint.say({ kind: "end", id: 1, value: RESULT, count: 3 });
  assert.equal((await turn.result).stopReason, "cancelled", "a late end changes nothing");
});

test("a cancel that is answered while the turn goes on gives the turn five seconds", async () => {
  const { endpoint, session, clock } = open();
  const turn = session.prompt("Hi", { messageId: "m-1" });
  const cancel = session.cancel("m-1");
  endpoint.say({ kind: "result", id: 2, value: "cancelled" });
  assert.equal(await cancel, "cancelled");
  clock.pass(LIMITS.cancel);
  assert.deepEqual((await turn.result).error.details, { unresponsive: true });
  await assert.rejects(turn.accepted, { code: "cancelled" });
});

test("a cancel of one message gives up no other turn", async () => {
  const { endpoint, session, clock } = open();
  const [first, second] = ["m-1", "m-2"].map((messageId) => session.prompt("Hi", { messageId }));
  const cancel = session.cancel("m-2").catch(() => {});
  clock.pass(LIMITS.cancel);
  await cancel;
  assert.equal((await second.result).stopReason, "cancelled");
  playAll(endpoint);
  assert.deepEqual(await first.result, RESULT);
});
