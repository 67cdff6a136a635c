// @ts-check
/** The reducer of the demo's trace: what each event makes of the tree. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isRunning, MOST_NODES, NOTHING, settled, tokensOf, traced } from "../../web/demo/trace.js";

/** @import { EventsDropped, NodeEvent, SessionEvent } from "../../web/langfx-web.js" */
/** @import { Trace } from "../../web/demo/trace.js" */

const at = (/** @type {number} */ second) => new Date(second * 1000).toISOString();

/**
 * An event of a node; its id says where it stands.
 * @param {"action_start" | "query_start" | "action_end" | "query_end"} type
 * @param {string} id
 * @param {string} name
 * @param {Partial<NodeEvent["node"]>} [facts]
 * @returns {NodeEvent}
 */
function told(type, id, name, facts) {
  const ended = type.endsWith("_end");
  const kinds = /** @type {const} */ ({ a: "action", s: "step", t: "tool" });
  const kind = kinds[/** @type {keyof typeof kinds} */ (id.at(-2))];
  const node = {
    ...{ id, parentId: id.slice(0, id.lastIndexOf("/")), kind, name, metadata: {}, progress: null },
    ...{ status: /** @type {const} */ (ended ? "ok" : "running"), startedAt: at(1), endedAt: ended ? at(3) : null },
    ...{ error: null, usage: null, requests: 0, cached: 0, response: null, result: { json: null }, repairs: 0 },
    ...facts,
  };
  return { type, sessionId: "s1", at: at(3), node };
}

/** @param {...(SessionEvent | EventsDropped)} events */
const after = (...events) => events.reduce(traced, NOTHING);

const usage = (/** @type {number} */ inputTokens, /** @type {number} */ outputTokens) => ({
  ...{ inputTokens, outputTokens, totalTokens: null, cachedInputTokens: null, cacheWriteInputTokens: null },
  ...{ reasoningTokens: null, numRequests: 1, lowerBound: false },
});

const turn = told("action_start", "s1/a1", "Agent:support");
const step = told("query_start", "s1/a1/s1", "step 0");
const call = told("action_start", "s1/a1/s1/t1", "Tool:ask_shipping", {
  metadata: { args: { json: { prompt: "Sooner?", weight: 2n ** 60n } } },
});
const agent = told("action_start", "s1/a1/s1/t1/a1", "Agent:shipping");

/** @param {Trace} trace @param {string} id */
function kept(trace, id) {
  const node = trace.nodes[id];
  assert.ok(node);
  return node;
}

test("turn, step, tool and the agent in it stand below one another, with names for people", () => {
  const trace = after(turn, step, call, agent);
  const shown = Object.values(trace.nodes).map(({ kind, title, children }) => [kind, title, children.length]);
  assert.deepEqual(shown, [
    ["turn", "Turn 1", 1],
    ["step", "Step 1", 1],
    ["tool", "ask_shipping", 1],
    ["agent", "shipping", 0],
  ]);
  assert.deepEqual(trace.turns, ["s1/a1"]);
  assert.equal(kept(trace, "s1/a1/s1/t1").args, 'prompt: "Sooner?", weight: "1152921504606846976"');
});

test("an end has times, result and error, and tokens are summed over what is below", () => {
  const trace = after(
    ...[turn, step, call, agent],
    told("query_end", "s1/a1/s1/t1/a1/s1", "step 0", { usage: usage(20, 5) }),
    told("action_end", "s1/a1/s1/t1", "Tool:ask_shipping", { result: { json: '{"day":"Friday"}' } }),
    told("query_end", "s1/a1/s1", "step 0", { usage: usage(100, 7) }),
    told("action_end", "s1/a1/s1/t2", "Tool:refund", {
      status: "error",
      error: { name: "ToolDeniedError", message: "no", code: "tool_denied", retryable: false },
    }),
  );
  const { start, end, status, result } = kept(trace, "s1/a1/s1/t1");
  assert.deepEqual([start, end, status, result], [1000, 3000, "ok", '{\n  "day": "Friday"\n}']);
  assert.deepEqual(kept(trace, "s1/a1/s1/t2").error, { code: "tool_denied", message: "no" });
  assert.deepEqual(tokensOf(trace, "s1/a1"), { input: 120, output: 12, cached: 0 });
  assert.deepEqual(tokensOf(trace, "s1/a1/s1/t1"), { input: 20, output: 5, cached: 0 });
  assert.equal(tokensOf(trace, "s1/a1/s1/t2"), null);
});

test("what began before anybody watched is adopted by its turn when that is heard of", () => {
  const late = [told("action_end", "s1/a1/s1/t1", "Tool:find"), told("query_end", "s1/a1/s1", "step 0")];
  const trace = after(...late, told("action_end", "s1/a1", "Agent:support"));
  assert.deepEqual(trace.turns, ["s1/a1"]);
  assert.deepEqual(kept(trace, "s1/a1").children, ["s1/a1/s1"]);
  assert.deepEqual(kept(trace, "s1/a1/s1").children, ["s1/a1/s1/t1"]);
});

test("a tool's progress is shown at its node, and long results are cut", () => {
  const half = { type: /** @type {const} */ ("progress_update"), sessionId: "s1", at: at(2), nodeId: "s1/a1/s1/t1" };
  const trace = after(turn, step, call, { ...half, title: "packing", fraction: 0.5, data: {} });
  assert.equal(kept(trace, "s1/a1/s1/t1").note, "packing 50 %");
  const long = told("action_end", "s1/a1/s1/t1", "Tool:ask_shipping", { result: { json: "x".repeat(50_000) } });
  assert.equal(kept(traced(trace, long), "s1/a1/s1/t1").result.length, 2001);
});

test("an old turn makes room for a new one, and one endless turn is cut and says so", () => {
  const steps = Array.from({ length: MOST_NODES + 10 }, (_, n) => told("query_start", `s1/a1/s${n}`, `step ${n}`));
  const endless = after(turn, ...steps);
  assert.equal(Object.keys(endless.nodes).length, MOST_NODES);
  assert.equal(endless.left, 11);
  const next = traced(endless, told("action_start", "s2/a1", "Agent:support"));
  assert.deepEqual([next.turns, Object.keys(next.nodes), next.begun], [["s2/a1"], ["s2/a1"], 2]);
  assert.equal(traced(next, { type: "events_dropped", sessionId: "s2", at: at(4), count: 5 }).left, 16);
});

test("when nothing more is heard, nothing runs any more", () => {
  const trace = after(turn, step);
  const over = settled(trace, 9000);
  assert.deepEqual([isRunning(trace), isRunning(over)], [true, false]);
  assert.deepEqual([kept(over, "s1/a1").status, kept(over, "s1/a1").end], ["cancelled", 9000]);
  assert.equal(settled(over, 9500), over);
});

test("no event changes the trace that it was given", () => {
  const trace = after(turn, step, call);
  const copy = structuredClone(trace);
  traced(trace, agent);
  traced(trace, told("action_end", "s1/a1/s1/t1", "Tool:ask_shipping"));
  settled(trace, 9000);
  assert.deepEqual(trace, copy);
});
