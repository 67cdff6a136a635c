// @ts-check
/** What the form shows, as one plain value, and the pure function that everything that happens goes through. */

import { advised, told } from "../advice.js";
import { START, started } from "../start.js";

/** @import { FieldPath, QueryError, QueryEvent } from "../../langfx-web.js" */
/** @import { Failure, Start, StartAction } from "../start.js" */

/**
 * One value of the form: its text so far, its value once that is whole, and how far it can be relied on.
 * @typedef {{ text: string, value: unknown, mark: Mark, problem: string }} Field
 * @typedef {"writing" | "unconfirmed" | "confirmed" | "wrong"} Mark
 */

/** @typedef {{ path: FieldPath, message: string }} Problem */
/** @typedef {{ customer: string, items: object[] }} Order What of it is read by name. */

/**
 * What became of the last note: `unfit` is an answer that is no order, `failed` one that did not come.
 * @typedef {"empty" | "running" | "stopping" | "stopped" | "confirmed" | "unfit" | "failed"} Outcome
 */

/**
 * @typedef {object} Form
 * @property {Outcome} outcome
 * @property {Record<string, Field>} fields By path, joined with dots: `items.0.article`.
 * @property {number} rows How many items there are so far.
 * @property {Problem[]} problems Of an answer that does not fit.
 * @property {Failure | null} refusal Why there is no answer.
 * @property {QueryEvent<Order>[]} log Every event of the last note.
 * @property {string} status What a screen reader is told.
 */

/** @typedef {Start & Form} State */

/**
 * @typedef {StartAction
 *   | { type: "asked" }
 *   | { type: "happened", event: QueryEvent<Order> }
 *   | { type: "stopping" }
 *   | { type: "stopped" }
 *   | { type: "failed", failure: Failure }} Action
 */

/** @type {State} */
export const INITIAL = {
  ...START,
  outcome: "empty",
  fields: {},
  rows: 0,
  problems: [],
  refusal: null,
  log: [],
  status: "",
};

/** @param {State} state */
export const isRunning = (state) => state.outcome === "running" || state.outcome === "stopping";

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function reduce(state, action) {
  switch (action.type) {
    case "ready":
      return { ...started(state, action), status: "The form is ready." };
    case "lost":
      return lost(started(state, action), action.failure);
    case "boot":
    case "progress":
    case "model":
    case "online":
      return started(state, action);
    case "asked":
      return { ...state, ...EMPTY, outcome: "running", status: "The form is being filled in." };
    case "happened":
      return happened({ ...state, log: [...state.log, action.event] }, action.event);
    case "stopping":
      // The page may have been a frame behind: an answer that is there cannot be stopped.
      return state.outcome === "running" ? { ...state, outcome: "stopping" } : state;
    case "stopped":
      return { ...settled(state), outcome: "stopped", status: "Stopped. Nothing was confirmed." };
    case "failed":
      return failed(state, action.failure);
  }
}

const EMPTY = { fields: {}, rows: 0, problems: [], refusal: null, log: [] };

/**
 * @param {State} state
 * @param {QueryEvent<Order>} event
 * @returns {State}
 */
function happened(state, event) {
  switch (event.type) {
    case "object_start":
      return event.path.length === 2 ? { ...state, rows: state.rows + 1 } : state;
    case "field_start":
      return withField(state, event.path, { text: "", value: undefined, mark: "writing" });
    case "string_field_delta":
      return withField(state, event.path, { text: fieldAt(state, event.path).text + event.delta });
    case "field_end":
      return withField(state, event.path, { ...ended(event.value), mark: "unconfirmed" });
    case "generation_complete":
      return confirmed(state, event.value);
    case "parsing_failed":
      return unfit(state, event.error);
    case "generation_failed":
      return failed(state, event.error);
    case "generation_cancelled":
      return { ...settled(state), outcome: "stopped", status: "Stopped. Nothing was confirmed." };
    default:
      return state;
  }
}

/** @type {Field} */
const NOTHING = { text: "", value: undefined, mark: "unconfirmed", problem: "" };

/**
 * @param {Pick<State, "fields">} state
 * @param {FieldPath} path
 */
const fieldAt = ({ fields }, path) => fields[path.join(".")] ?? NOTHING;

/**
 * @param {State} state
 * @param {FieldPath} path
 * @param {Partial<Field>} change
 * @returns {State}
 */
function withField(state, path, change) {
  return { ...state, fields: { ...state.fields, [path.join(".")]: { ...fieldAt(state, path), ...change } } };
}

/** @param {unknown} value What a field holds; containers have fields of their own. */
function ended(value) {
  return { value, text: typeof value === "object" ? "" : String(value) };
}

/**
 * Nothing is being written any more, and nothing was confirmed.
 * @param {State} state
 * @returns {State}
 */
function settled(state) {
  const fields = Object.entries(state.fields).map(([path, field]) => [
    path,
    field.mark === "writing" ? { ...field, mark: "unconfirmed" } : field,
  ]);
  return { ...state, fields: Object.fromEntries(fields) };
}

/**
 * The whole order, as Python checked it, takes the place of everything that was shown before.
 * @param {State} state
 * @param {Order} order
 * @returns {State}
 */
function confirmed(state, order) {
  const fields = /** @type {Record<string, Field>} */ ({});
  for (const [path, value] of leaves(order)) {
    fields[path.join(".")] = { ...ended(value), mark: "confirmed", problem: "" };
  }
  const rows = order.items.length;
  const status = `The order is confirmed: ${order.customer}, ${rows} ${rows === 1 ? "item" : "items"}.`;
  return { ...state, fields, rows, outcome: "confirmed", status };
}

/**
 * Every value in an object or array, with its path; containers, too.
 * @param {any} value
 * @param {FieldPath} [path]
 * @returns {Generator<[FieldPath, unknown]>}
 */
function* leaves(value, path = []) {
  if (path.length) yield [path, value];
  if (typeof value !== "object" || value === null) return;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) yield* leaves(value[key], [...path, key]);
}

/**
 * @param {State} state
 * @param {QueryError} error With what is wrong, and where, in its details.
 * @returns {State}
 */
function unfit(state, error) {
  const { path = [], problems = [{ path, message: error.message }] } = error.details;
  const marked = problems.reduce(withProblem, settled(state));
  const told = problems.map((/** @type {Problem} */ { path, message }) => `${written(path)}: ${message}`).join("; ");
  return { ...marked, problems, outcome: "unfit", status: `The answer is no order. ${told}` };
}

/**
 * @param {State} state
 * @param {Problem} problem
 */
function withProblem(state, { path, message }) {
  return withField(state, path, { mark: "wrong", problem: message });
}

/**
 * @param {State} state
 * @param {Failure} failure
 * @returns {State}
 */
function failed(state, failure) {
  const refusal = advised(failure, state.model);
  return { ...settled(state), outcome: "failed", refusal, status: told(refusal) };
}

/**
 * An order that was confirmed stays one when Python is gone.
 * @param {State} state
 * @param {Failure} failure
 * @returns {State}
 */
function lost(state, failure) {
  return isRunning(state) ? failed(state, failure) : { ...state, status: failure.message };
}

/**
 * A path as one would write it in Python: `items[0].quantity`.
 * @param {FieldPath} path
 */
export function written(path) {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  return steps.join("").replace(/^\./, "") || "the order";
}
