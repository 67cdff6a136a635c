// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { LIMITS } from "../../worker/protocol.js";
import { Channel } from "../../web/channel.js";
import { bridgeClosed } from "../../web/errors.js";
import { FakeClock, FakeEndpoint, settled, unhandledDuring } from "./fakes.js";

const CALL = {
  kind: "tool_call",
  id: 1,
  name: "t",
  input: { a: 1 },
  executionId: "exe_1",
  sessionId: "ses_1",
  context: { user: 7 },
  rerun: true,
};
const REQUEST = { kind: "credential_request", id: 1, provider: "anthropic", sessionId: "ses_1", rejected: false };

/** @param {(...args: any[]) => any} execute */
function withTool(execute) {
  return open({ tools: { t: { description: "", inputSchema: {}, execute } } });
}

/** @param {object} options */
function open(options) {
  const endpoint = new FakeEndpoint();
  const clock = new FakeClock();
  return { endpoint, clock, channel: new Channel(endpoint, { clock, ...options }) };
}

/** @param {FakeEndpoint} endpoint @param {...object} messages */
async function answersTo(endpoint, ...messages) {
  endpoint.say(...messages);
  await settled();
  return endpoint.sent();
}

test("a page tool gets its input and its call, and its value is the result", async () => {
  /** @type {any[]} */
  const seen = [];
  const { endpoint } = withTool(async (input, { signal, ...call }) => {
    seen.push(input, call, signal.aborted);
    return { shown: true };
  });
  assert.deepEqual(await answersTo(endpoint, CALL), [{ kind: "tool_result", id: 1, value: { shown: true } }]);
  assert.deepEqual(seen, [
    { a: 1 },
    { executionId: "exe_1", sessionId: "ses_1", context: { user: 7 }, rerun: true },
    false,
  ]);
});

test("a tool may be a plain function, and may return nothing", async () => {
  const { endpoint } = withTool(() => {});
  assert.deepEqual(await answersTo(endpoint, CALL), [{ kind: "tool_result", id: 1, value: null }]);
});

test("a tool may return bytes and Blobs", async () => {
  const { endpoint } = withTool(async () => ({ photo: new Blob(["jpg"]), raw: new Uint8Array([1]) }));
  const [answer] = await answersTo(endpoint, CALL);
  assert.deepEqual(answer.blobs, [
    ["value", "photo"],
    ["value", "raw"],
  ]);
  assert.deepEqual(
    endpoint.posts[0].blobs.map(({ byteLength }) => byteLength),
    [3, 1],
  );
});

for (const [name, execute] of Object.entries({
  throws: () => {
    throw new TypeError("no map");
  },
  rejects: async () => {
    throw new TypeError("no map");
  },
})) {
  test(`a tool that ${name} becomes a tool_error with name and message`, async () => {
    const { endpoint } = withTool(execute);
    assert.deepEqual(await answersTo(endpoint, CALL), [
      { kind: "tool_error", id: 1, error: { name: "TypeError", message: "no map" } },
    ]);
  });
}

test("whatever a tool throws, there is an answer", async () => {
  for (const [thrown, message] of /** @type {[any, string][]} */ ([
    ["plain text", "plain text"],
    [undefined, "The handler threw something that is no Error."],
    [Object.create(null), "The handler threw something that is no Error."],
  ])) {
    const { endpoint } = withTool(() => Promise.reject(thrown));
    assert.deepEqual(await answersTo(endpoint, CALL), [
      { kind: "tool_error", id: 1, error: { name: "Error", message } },
    ]);
  }
});

test("a result that cannot cross is a tool_error that says where", async () => {
  const { endpoint } = withTool(() => ({ list: [new Map()] }));
  const [{ kind, error }] = await answersTo(endpoint, CALL);
  assert.equal(kind, "tool_error");
  assert.equal(error.name, "NotPortableError");
  assert.match(error.message, /\.value\.list\[0\]/);
});

test("an unknown tool is answered, also one named like a method of every object", async () => {
  const { endpoint } = withTool(() => 1);
  const [{ error }] = await answersTo(endpoint, { ...CALL, name: "toString" });
  assert.equal(error.name, "ToolNotFoundError");
});

test("tool_cancel aborts the signal, and the late answer is dropped", async () => {
  /** @type {any} */
  let finish;
  /** @type {AbortSignal | undefined} */
  let seen;
  const { endpoint } = withTool((_, { signal }) => {
    seen = signal;
    return new Promise((resolve) => (finish = resolve));
  });
  endpoint.say(CALL);
  endpoint.say({ kind: "tool_cancel", id: 1 }, { kind: "tool_cancel", id: 1 }, { kind: "tool_cancel", id: 77 });
  assert.equal(seen?.aborted, true);
  assert.equal(seen?.reason.code, "cancelled");
  finish("late");
  await settled();
  assert.deepEqual(endpoint.sent(), []);
});

test("calls run side by side and answer in the order they finish", async () => {
  /** @type {Record<string, (value: any) => void>} */
  const finish = {};
  const { endpoint } = withTool((input) => new Promise((resolve) => (finish[input] = resolve)));
  endpoint.say({ ...CALL, id: 1, input: "a" }, { ...CALL, id: 2, input: "b" });
  finish.b(2);
  await settled();
  finish.a(1);
  await settled();
  assert.deepEqual(
    endpoint.sent().map(({ id, value }) => [id, value]),
    [
      [2, 2],
      [1, 1],
    ],
  );
});

test("at the end of the bridge running tools are aborted and no answer is posted", async () => {
  /** @type {AbortSignal | undefined} */
  let seen;
  const { endpoint, channel } = withTool(async (_, { signal }) => {
    seen = signal;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  });
  endpoint.say(CALL);
  channel.end(bridgeClosed());
  assert.equal(seen?.reason.code, "bridge_closed");
  await settled();
  assert.deepEqual(endpoint.sent(), []);
});

for (const key of ["test-key", { apiKey: "test-key", headers: { "x-team": "a" }, expiresAt: new Date(0) }]) {
  test(`a credential may be ${typeof key === "string" ? "text" : "an object"}`, async () => {
    /** @type {any[]} */
    const seen = [];
    const credentials = async (/** @type {any} */ { signal, ...request }) => (seen.push(request), key);
    const { endpoint, clock } = open({ credentials });
    assert.deepEqual(await answersTo(endpoint, REQUEST), [
      { kind: "credential_result", id: 1, value: JSON.parse(JSON.stringify(key)) },
    ]);
    assert.deepEqual(seen, [{ provider: "anthropic", sessionId: "ses_1", rejected: false }]);
    assert.equal(clock.running, 0);
  });
}

for (const [name, credentials, message] of /** @type {const} */ ([
  ["fails", () => Promise.reject(new Error("signed out")), /signed out/],
  ["gives nothing", () => undefined, /gave no key/],
  ["gives an empty key", () => ({ apiKey: "" }), /gave no key/],
  ["is missing", undefined, /no credentials callback/],
])) {
  test(`a credentials callback that ${name} is a credential_error`, async () => {
    const { endpoint, clock } = open({ credentials });
    const [answer] = await answersTo(endpoint, REQUEST);
    assert.equal(answer.kind, "credential_error");
    assert.match(answer.error.message, message);
    assert.equal(clock.running, 0);
  });
}

test("a credentials callback that hangs is given 30 seconds, then told to stop", async () => {
  /** @type {AbortSignal | undefined} */
  let seen;
  const { endpoint, clock } = open({
    credentials: (/** @type {any} */ { signal }) => ((seen = signal), new Promise(() => {})),
  });
  endpoint.say(REQUEST);
  clock.pass(LIMITS.credentials - 1);
  await settled();
  assert.deepEqual(endpoint.sent(), []);
  clock.pass(1);
  await settled();
  assert.equal(endpoint.sent()[0].kind, "credential_error");
  assert.equal(seen?.aborted, true);
});

test("a credential that fails after it was given up is not an unhandled rejection", async () => {
  const unhandled = await unhandledDuring(async () => {
    /** @type {any} */
    let fail;
    const { endpoint, clock } = open({ credentials: () => new Promise((_, reject) => (fail = reject)) });
    endpoint.say(REQUEST);
    clock.pass(LIMITS.credentials);
    await settled();
    fail(new Error("late"));
  });
  assert.deepEqual(unhandled, []);
});
