// @ts-check
/** The form page's reducer: what each event of a streamed query makes of the form. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { INITIAL, isRunning, reduce, written } from "../../web/demo/form/state.js";

/** @import { FieldPath, QueryEvent } from "../../web/langfx-web.js" */
/** @import { Action, State } from "../../web/demo/form/state.js" */

/** @param {...(Action | QueryEvent)} actions */
function after(...actions) {
  return actions.map(asAction).reduce(reduce, reduce(INITIAL, { type: "asked" }));
}

/** @param {Action | QueryEvent} given @returns {Action} */
function asAction(given) {
  const isEvent = given.type.includes("_");
  return isEvent ? { type: "happened", event: /** @type {QueryEvent} */ (given) } : /** @type {Action} */ (given);
}

/** @param {FieldPath} path */
const begin = (path) => ({ type: "field_start", path });
/** @param {FieldPath} path @param {string} delta */
const delta = (path, delta) => ({ type: "string_field_delta", path, delta });
/** @param {FieldPath} path @param {unknown} value */
const end = (path, value) => ({ type: "field_end", path, value });

const ORDER = { customer: "Ada", email: null, items: [{ quantity: 2, article: "lamp" }], gift_wrap: true };

/** @param {State} state @param {string} path */
function field({ fields }, path) {
  const found = fields[path];
  assert.ok(found, path);
  return found;
}

test("a text grows while it is written and stays unconfirmed at its end", () => {
  const writing = after(begin(["customer"]), delta(["customer"], "A"), delta(["customer"], "da"));
  assert.deepEqual([field(writing, "customer").text, field(writing, "customer").mark], ["Ada", "writing"]);
  const whole = reduce(writing, asAction(end(["customer"], "Ada")));
  assert.deepEqual([field(whole, "customer").text, field(whole, "customer").mark], ["Ada", "unconfirmed"]);
});

test("numbers, flags and nulls come whole", () => {
  const path = ["items", 0, "quantity"];
  const state = after(begin(path), end(path, 12), begin(["gift_wrap"]), end(["gift_wrap"], false), begin(["email"]));
  assert.equal(field(state, "items.0.quantity").text, "12");
  assert.equal(field(state, "gift_wrap").text, "false");
  assert.equal(field(reduce(state, asAction(end(["email"], null))), "email").value, null);
});

test("a row is there as soon as its item opens", () => {
  const opens = (/** @type {number} */ index) => ({ type: "object_start", path: ["items", index], kind: "object" });
  assert.equal(after({ type: "object_start", path: ["items"], kind: "list" }).rows, 0);
  assert.equal(after(opens(0), opens(1)).rows, 2);
});

test("the checked value replaces what was shown", () => {
  const state = after(begin(["customer"]), delta(["customer"], "A"), { type: "generation_complete", value: ORDER });
  assert.equal(state.outcome, "confirmed");
  assert.ok(Object.values(state.fields).every(({ mark }) => mark === "confirmed"));
  assert.deepEqual([field(state, "customer").text, field(state, "items.0.article").text, state.rows], ["Ada", "lamp", 1]);
  assert.equal(state.status, "The order is confirmed: Ada, 1 item.");
});

test("an answer that does not fit marks each place and says all of it", () => {
  const problems = [
    { path: ["items", 0, "quantity"], message: "int is wanted" },
    { path: [], message: "nothing is ordered" },
  ];
  const error = { code: "mapping_failed", message: "int is wanted", details: { problems } };
  const state = after(begin(["customer"]), { type: "parsing_failed", error });
  assert.deepEqual([state.outcome, isRunning(state)], ["unfit", false]);
  assert.deepEqual([field(state, "customer").mark, field(state, "items.0.quantity").mark], ["unconfirmed", "wrong"]);
  assert.match(state.status, /items\[0\]\.quantity: int is wanted; the order: nothing is ordered/);
});

test("an error without places is told as it is", () => {
  const state = after({ type: "parsing_failed", error: { code: "mapping_failed", message: "no value", details: {} } });
  assert.deepEqual(state.problems, [{ path: [], message: "no value" }]);
});

test("what ends without an answer confirms nothing", () => {
  const failure = { code: "authentication", message: "The key was refused.", retryable: false };
  for (const [last, outcome] of /** @type {[Action | QueryEvent, string][]} */ ([
    [{ type: "stopped" }, "stopped"],
    [{ type: "generation_cancelled", reason: "" }, "stopped"],
    [{ type: "generation_failed", error: failure }, "failed"],
    [{ type: "failed", failure }, "failed"],
    [{ type: "lost", failure }, "failed"],
  ])) {
    const state = after(begin(["customer"]), last);
    assert.deepEqual([state.outcome, field(state, "customer").mark], [outcome, "unconfirmed"]);
  }
});

test("a confirmed order outlives its worker", () => {
  const failure = { code: "worker_stopped", message: "Python is gone.", retryable: false };
  const state = after({ type: "generation_complete", value: ORDER }, { type: "lost", failure });
  assert.deepEqual([state.outcome, state.phase, state.status], ["confirmed", "failed", "Python is gone."]);
});

test("a stop that comes after the end changes nothing", () => {
  const over = after({ type: "generation_complete", value: ORDER });
  assert.equal(reduce(over, { type: "stopping" }), over);
});

test("the next note starts with an empty form", () => {
  const state = after({ type: "generation_complete", value: ORDER }, { type: "asked" });
  assert.deepEqual([state.fields, state.rows, state.log, state.outcome], [{}, 0, [], "running"]);
});

test("paths read as in Python", () => {
  assert.deepEqual([written(["items", 1, "article"]), written(["note"]), written([])], ["items[1].article", "note", "the order"]);
});
