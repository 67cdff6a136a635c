// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { Channel } from "../../web/channel.js";
import { Agent } from "../../web/session.js";
import { FakeClock, FakeEndpoint, settled } from "./fakes.js";

function open() {
  const endpoint = new FakeEndpoint();
  const agent = new Agent(new Channel(endpoint, { clock: new FakeClock() }), "support");
  return { endpoint, agent };
}

test("making agents and sessions posts nothing", () => {
  const { endpoint, agent } = open();
  assert.equal(agent.session("chat").id, "chat");
  assert.equal(agent.session().id, null);
  assert.equal(agent.name, "support");
  assert.equal(endpoint.posts.length, 0);
});

test("bad session ids are refused at once", () => {
  const { agent } = open();
  for (const id of ["", "x".repeat(129), "a b", "ä", ".", "..", "a/b", "a\n", null, 7]) {
    assert.throws(
      () => agent.session(/** @type {any} */ (id)),
      { name: "InvalidValueError", code: "invalid_session_id" },
      String(id),
    );
  }
  assert.equal(agent.session("x".repeat(128)).id?.length, 128);
  assert.equal(agent.session("..a").id, "..a");
});

test("a new session has one id for all its prompts, shown once the first is accepted", async () => {
  const { endpoint, agent } = open();
  const session = agent.session();
  session.prompt("one");
  session.prompt("two");
  assert.equal(session.id, null);
  const [first, second] = endpoint.sent();
  assert.match(first.session, /^ses_[a-z0-9]{26}$/);
  assert.equal(second.session, first.session);
  assert.match(first.messageId, /^msg_[a-z0-9]{26}$/);
  assert.notEqual(second.messageId, first.messageId);
  endpoint.say({ kind: "accepted", id: 1, value: { messageId: first.messageId, sessionId: first.session } });
  await settled();
  assert.equal(session.id, first.session);
});

test("a session whose first prompt fails stays without an id", async () => {
  const { endpoint, agent } = open();
  const session = agent.session();
  const turn = session.prompt("one");
  endpoint.say({
    kind: "error",
    id: 1,
    error: { code: "no_agent", name: "NoAgentError", message: "", retryable: true, details: {} },
  });
  await turn.accepted.catch(() => {});
  assert.equal(session.id, null);
});

test("model, instructions and context go with each prompt of the object", () => {
  const { endpoint, agent } = open();
  const session = agent.session("chat", { model: "large", instructions: ["a", "b"], context: { user: 7 } });
  session.prompt([{ type: "text", text: "Hi" }], { messageId: "m-1" });
  assert.deepEqual(endpoint.sent(), [
    {
      kind: "session_prompt",
      id: 1,
      agent: "support",
      session: "chat",
      input: [{ type: "text", text: "Hi" }],
      messageId: "m-1",
      model: "large",
      instructions: ["a", "b"],
      context: { user: 7 },
    },
  ]);
});

test("stream reads the stored lines after a cursor", async () => {
  const { endpoint, agent } = open();
  const session = agent.session("chat");
  session.stream();
  const stream = session.stream(7);
  assert.deepEqual(
    endpoint.sent().map(({ cursor }) => cursor),
    [0, 7],
  );
  endpoint.say({ kind: "items", id: 2, items: [{ type: "turn_start", cursor: 8 }] });
  assert.deepEqual((await stream.next()).value, { type: "turn_start", cursor: 8 });
});

test("bad cursors are refused before anything opens", () => {
  const { endpoint, agent } = open();
  for (const cursor of [-1, 1.5, "1", NaN, null, 2 ** 53]) {
    assert.throws(
      () => agent.session("chat").stream(/** @type {any} */ (cursor)),
      { code: "invalid_cursor" },
      String(cursor),
    );
  }
  assert.equal(endpoint.posts.length, 0);
});

test("messages gives the conversation", async () => {
  const { endpoint, agent } = open();
  const messages = agent.session("chat").messages();
  assert.deepEqual(endpoint.sent(), [{ kind: "session_messages", id: 1, agent: "support", session: "chat" }]);
  endpoint.say({ kind: "result", id: 1, value: [{ role: "user" }] });
  assert.deepEqual(await messages, [{ role: "user" }]);
});

test("questions of turns are listed, answered and declined", async () => {
  const { endpoint, agent } = open();
  const session = agent.session("chat");
  const address = { agent: "support", session: "chat" };
  const asked = [session.gates(), session.answer("g1", true), session.decline("g2", "not now")];
  assert.deepEqual(endpoint.sent(), [
    { kind: "session_gates", id: 1, ...address },
    { kind: "session_answer", id: 2, ...address, gateId: "g1", value: true },
    { kind: "session_decline", id: 3, ...address, gateId: "g2", reason: "not now" },
  ]);
  endpoint.say({ kind: "result", id: 1, value: [{ id: "g1" }] });
  endpoint.say({ kind: "result", id: 2, value: null });
  const error = { code: "gate_not_found", name: "GateNotFoundError", message: "m", retryable: false, details: {} };
  endpoint.say({ kind: "error", id: 3, error });
  assert.deepEqual(await asked[0], [{ id: "g1" }]);
  assert.equal(await asked[1], null);
  await assert.rejects(asked[2], { code: "gate_not_found" });
});

test("watching is a stream that leaving ends", async () => {
  const { endpoint, agent } = open();
  const events = agent.session("chat").watch();
  assert.deepEqual(endpoint.sent(), [{ kind: "session_watch", id: 1, agent: "support", session: "chat" }]);
  endpoint.say({ kind: "items", id: 1, items: [{ type: "events_dropped", count: 3 }] });
  assert.equal((await events.next()).value?.type, "events_dropped");
  await events.return?.();
  assert.deepEqual(endpoint.sent().at(-1), { kind: "cancel", id: 1 });
});
