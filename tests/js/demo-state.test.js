// @ts-check
/** The demo's reducer: what each thing that happens makes of the state. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { initial, reduce } from "../../web/demo/state.js";

/** @import { Action, State, TurnEvent } from "../../web/demo/state.js" */

/** @param {...Action} actions */
function after(...actions) {
  return actions.reduce(reduce, initial(["show_order"]));
}

/** @param {TurnEvent} event @returns {Action} */
const happened = (event) => ({ type: "happened", event });

/** @type {Action} */
const asked = { type: "asked", text: "Where is order 7?" };

/** @type {Action} */
const ended = { type: "ended", stopReason: "end_turn", failure: null };

const thought = happened({ type: "thought_delta", delta: "hm" });
const text = (/** @type {string} */ delta) => happened({ type: "text_delta", delta });
const toolStart = happened({ type: "tool_start", executionId: "e1", name: "show_order", input: { id: "7" } });

test("deltas of one kind join, another kind closes what was open", () => {
  const { entries } = after(asked, thought, thought, text("It is "), text("on its way."));
  assert.deepEqual(entries, [
    { kind: "user", text: "Where is order 7?" },
    { kind: "thought", text: "hmhm", open: false },
    { kind: "answer", text: "It is on its way.", open: true },
  ]);
});

test("a tool is found by its execution, whatever came between", () => {
  const end = happened({ type: "tool_end", executionId: "e1", name: "show_order", content: "shown", durationMs: 7 });
  const other = happened({ type: "tool_start", executionId: "e2", name: "get_order", input: {} });
  const { entries } = after(asked, toolStart, other, end);
  const [first, second] = entries.slice(1);
  assert.ok(first?.kind === "tool" && second?.kind === "tool");
  assert.deepEqual([first.place, first.open, first.output, first.milliseconds], ["page", false, "shown", 7]);
  assert.deepEqual([second.place, second.open], ["worker", true]);
});

test("a refused call, which has no start, is shown with its error", () => {
  const end = { type: "tool_end", executionId: "e1", name: "magic", isError: true, errorCode: "tool_not_found" };
  const entry = after(asked, happened(end)).entries.at(-1);
  assert.ok(entry?.kind === "tool");
  assert.deepEqual([entry.name, entry.open, entry.isError, entry.errorCode], ["magic", false, true, "tool_not_found"]);
});

const payload = { tool: "refund_order", args: { id: "7" } };
const gateOpen = happened({ type: "gate_open", id: "g1", callId: "c1", reason: "May it run?", payload });

test("a question waits, is being decided, and is what came of it; a refused call shows what it was to do", () => {
  const outcome = (/** @type {State} */ { entries }) => entries.find((entry) => entry.kind === "question")?.outcome;
  const asking = after(asked, gateOpen);
  assert.deepEqual([outcome(asking), asking.status], ["waiting", "May it run? Allow or deny."]);
  const deciding = reduce(asking, { type: "decided", id: "g1", allowed: false, why: "too much" });
  assert.equal(outcome(deciding), "deciding");
  const ends = ["answered", "declined", "timeout", "cancelled"].map((outcome) => ({ type: "gate_closed", id: "g1", outcome }));
  const outcomes = ends.map((end) => outcome(reduce(deciding, happened(end))));
  assert.deepEqual(outcomes, ["allowed", "denied", "timeout", "cancelled"]);
  assert.equal(outcome(reduce(asking, ended)), "cancelled");
  const refused = { type: "tool_end", id: "c1", executionId: "e1", name: "refund_order", isError: true };
  const entry = reduce(deciding, happened(refused)).entries.at(-1);
  assert.deepEqual(entry?.kind === "tool" && entry.input, { id: "7" });
});

test("starting over, in the page or in Python, empties the trace", () => {
  const watched = after({ type: "watched", event: { type: "events_dropped", sessionId: "s1", at: "", count: 2 } });
  assert.equal(watched.trace.left, 2);
  for (const type of /** @type {const} */ (["started_over", "boot"])) assert.equal(reduce(watched, { type }).trace.left, 0);
});

test("the end of a turn closes everything and says the answer", () => {
  const state = after(asked, toolStart, text("Thursday."), ended);
  assert.ok(state.entries.every((entry) => !("open" in entry && entry.open)));
  assert.deepEqual([state.turn, state.status], ["idle", "Thursday."]);
});

test("a failed turn ends with its error, a stopped one with a line", () => {
  const failure = { code: "rate_limit", message: "Slow down.", retryable: true };
  assert.deepEqual(after(asked, { type: "ended", stopReason: "error", failure }).entries.at(-1), { kind: "error", failure });
  const stopped = after(asked, { type: "stopping" }, { type: "ended", stopReason: "cancelled", failure: null });
  assert.deepEqual(stopped.entries.at(-1), { kind: "notice", text: "Stopped." });
});

test("a stop that comes after the end changes nothing", () => {
  const over = after(asked, ended);
  assert.equal(reduce(over, { type: "stopping" }), over);
});

test("losing Python ends the turn and keeps the conversation; a new start says that it was forgotten", () => {
  const failure = { code: "worker_stopped", message: "Python stopped.", retryable: true };
  const lost = after(asked, { type: "lost", failure });
  assert.deepEqual([lost.phase, lost.turn, lost.failure], ["failed", "idle", failure]);
  const again = reduce(lost, { type: "boot" });
  assert.deepEqual([again.phase, again.failure, again.entries.at(-1)?.kind], ["booting", null, "notice"]);
  assert.deepEqual(after({ type: "boot" }).entries, []);
});

test("a note belongs to its order and replaces the older one", () => {
  /** @param {string} id @param {string} note @returns {Action} */
  const noted = (id, note) => ({ type: "note_set", id, note });
  const state = after(noted("7", "old"), noted("12", "other"), noted("7", "new"));
  assert.deepEqual([state.notes, state.shown], [{ 7: "new", 12: "other" }, "7"]);
});

test("no action changes the state that it was given", () => {
  const state = after(asked, thought, toolStart);
  const copy = structuredClone(state);
  for (const action of [text("a"), ended, toolStart, asked]) reduce(state, action);
  assert.deepEqual(state, copy);
});
