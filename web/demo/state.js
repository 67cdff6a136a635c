// @ts-check
/** What the demo shows, as one plain value, and the pure function that everything that happens goes through. */

import { advised, told } from "./advice.js";
import { START, started } from "./start.js";
import { NOTHING, settled, traced } from "./trace.js";

/** @import { EventsDropped, SessionEvent } from "../langfx-web.js" */
/** @import { Trace } from "./trace.js" */
/** @import { Failure, Start, StartAction } from "./start.js" */
/** @typedef {{ id: string, item: string, price: number, status: string, detail: string }} Order */

/**
 * One thing in the conversation. `open` means that more of it is still to come; `place` says where a tool runs.
 * @typedef {{ kind: "user", text: string }
 *   | { kind: "answer" | "thought", text: string, open: boolean }
 *   | { kind: "tool", call: string, name: string, place: "page" | "worker", input: unknown, open: boolean,
 *       output: string, isError: boolean, errorCode: string | null, milliseconds: number }
 *   | { kind: "question", id: string, call: string, tool: string, args: unknown, reason: string, why: string,
 *       outcome: "waiting" | "deciding" | "allowed" | "denied" | "timeout" | "cancelled" }
 *   | { kind: "notice", text: string }
 *   | { kind: "error", failure: Failure }} Entry
 */

/**
 * @typedef {object} Desk
 * @property {string[]} pageTools Names of the tools that run on the page.
 * @property {Order[]} orders
 * @property {string | null} shown The order that the page tool pointed at.
 * @property {Record<string, string>} notes By order.
 * @property {Entry[]} entries
 * @property {"idle" | "running" | "stopping"} turn
 * @property {Trace} trace
 * @property {boolean} isTraced Whether the trace is shown.
 * @property {string} status What a screen reader is told.
 */

/** @typedef {Start & Desk} State */

/**
 * A turn's events are in `langfx-web.d.ts`; only the fields read here are named.
 * @typedef {{ type: string, delta?: string, executionId?: string, name?: string, input?: unknown, content?: string,
 *   isError?: boolean, errorCode?: string, durationMs?: number, id?: string, reason?: string,
 *   payload?: { tool: string, args: unknown }, outcome?: string, callId?: string }} TurnEvent
 */

/**
 * @typedef {StartAction
 *   | { type: "orders", orders: Order[] }
 *   | { type: "order_shown", id: string }
 *   | { type: "note_set", id: string, note: string }
 *   | { type: "started_over" }
 *   | { type: "asked", text: string }
 *   | { type: "happened", event: TurnEvent }
 *   | { type: "decided", id: string, allowed: boolean, why: string }
 *   | { type: "watched", event: SessionEvent | EventsDropped }
 *   | { type: "trace_shown", shown: boolean }
 *   | { type: "stopping" }
 *   | { type: "unwatched", at: number }
 *   | { type: "ended", stopReason: string, failure: Failure | null }} Action
 */

const ENDS = /** @type {Record<string, string>} */ ({
  cancelled: "Stopped.",
  max_steps: "The agent reached its limit of steps.",
  max_tool_calls: "The agent reached its limit of tool calls.",
  max_output_tokens: "The answer reached its length limit.",
});

const SCRIPTED = "From here on the script answers again.";
const answering = (/** @type {string} */ model) =>
  `From here on ${model} answers. It does not know what was said before.`;
const FORGOTTEN = "Python was started again and has forgotten what was said before.";

/**
 * @param {string[]} pageTools
 * @returns {State}
 */
export function initial(pageTools) {
  return {
    ...START,
    pageTools,
    orders: [],
    shown: null,
    notes: {},
    entries: [],
    turn: "idle",
    trace: NOTHING,
    isTraced: false,
    status: "",
  };
}

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function reduce(state, action) {
  switch (action.type) {
    case "boot":
      return noted({ ...started(state, action), trace: NOTHING }, FORGOTTEN);
    case "progress":
    case "online":
      return started(state, action);
    case "ready":
      return { ...started(state, action), status: "The desk is ready." };
    case "lost":
      return { ...started(state, action), turn: "idle", status: action.failure.message };
    case "model":
      return noted(started(state, action), action.model ? answering(action.model.id) : SCRIPTED);
    case "orders":
      return { ...state, orders: action.orders };
    case "order_shown":
      return { ...state, shown: action.id };
    case "note_set":
      return { ...state, shown: action.id, notes: { ...state.notes, [action.id]: action.note } };
    case "started_over":
      return { ...state, entries: [], shown: null, status: "", trace: NOTHING };
    case "asked":
      return {
        ...state,
        entries: [...state.entries, { kind: "user", text: action.text }],
        turn: "running",
        status: "The desk is answering.",
      };
    case "happened":
      return happened(state, action.event);
    case "decided":
      return { ...state, entries: decided(state.entries, action.id, { outcome: "deciding", why: action.why }) };
    case "watched":
      return { ...state, trace: traced(state.trace, action.event) };
    case "unwatched":
      return { ...state, trace: settled(state.trace, action.at) };
    case "trace_shown":
      return { ...state, isTraced: action.shown };
    case "stopping":
      // The page may have been a frame behind: a turn that is over cannot be stopped.
      return state.turn === "running" ? { ...state, turn: "stopping" } : state;
    case "ended":
      return ended(state, action.stopReason, action.failure && advised(action.failure, state.model));
  }
}

/**
 * A conversation that has begun gets a line where it stops being remembered.
 * @param {State} state
 * @param {string} text
 * @returns {State}
 */
function noted(state, text) {
  if (state.entries.length === 0) return state;
  return { ...state, entries: [...closed(state.entries), { kind: "notice", text }] };
}

/**
 * @param {State} state
 * @param {TurnEvent} event
 * @returns {State}
 */
function happened(state, event) {
  switch (event.type) {
    case "text_delta":
      return { ...state, entries: grown(state.entries, "answer", event.delta ?? "") };
    case "thought_delta":
      return { ...state, entries: grown(state.entries, "thought", event.delta ?? "") };
    case "tool_start":
      return { ...state, entries: [...closed(state.entries), tool(state, event)], status: `Running ${event.name}.` };
    case "tool_end":
      return { ...state, entries: toolEnded(state, event) };
    case "gate_open":
      return { ...state, entries: [...closed(state.entries), question(event)], status: `${event.reason} Allow or deny.` };
    case "gate_closed":
      return { ...state, entries: settledQuestion(state.entries, event) };
    default:
      return state;
  }
}

/**
 * A delta joins the last entry if that is of its kind and still open.
 * @param {Entry[]} entries
 * @param {"answer" | "thought"} kind
 * @param {string} delta
 * @returns {Entry[]}
 */
function grown(entries, kind, delta) {
  const last = entries.at(-1);
  if (last?.kind === kind && last.open) return [...entries.slice(0, -1), { ...last, text: last.text + delta }];
  return [...closed(entries), { kind, text: delta, open: true }];
}

/**
 * Text and thoughts come one after the other: what follows ends what was open. Tools may overlap, so they stay.
 * @param {Entry[]} entries
 * @returns {Entry[]}
 */
function closed(entries) {
  const last = entries.at(-1);
  if ((last?.kind !== "answer" && last?.kind !== "thought") || !last.open) return entries;
  return [...entries.slice(0, -1), { ...last, open: false }];
}

/**
 * A call that waits for a person.
 * @param {TurnEvent} event
 * @returns {Entry}
 */
function question({ id = "", reason = "", payload, callId: call = "" }) {
  const { tool: name = "", args = {} } = payload ?? {};
  return { kind: "question", id, call, tool: name, args, reason, why: "", outcome: "waiting" };
}

/**
 * @param {Entry[]} entries
 * @param {TurnEvent} event
 */
function settledQuestion(entries, { id = "", outcome }) {
  const ends = /** @type {const} */ ({ answered: "allowed", declined: "denied", timeout: "timeout" });
  return decided(entries, id, { outcome: ends[/** @type {keyof ends} */ (outcome)] ?? "cancelled" });
}

/**
 * @param {Entry[]} entries
 * @param {string} id
 * @param {Partial<Entry & { kind: "question" }>} change
 */
function decided(entries, id, change) {
  return entries.map((entry) => (entry.kind === "question" && entry.id === id ? { ...entry, ...change } : entry));
}

/**
 * @param {State} state
 * @param {TurnEvent} event
 * @returns {Entry & { kind: "tool" }}
 */
function tool(state, event) {
  const name = event.name ?? "";
  return {
    kind: "tool",
    call: event.executionId ?? "",
    name,
    place: state.pageTools.includes(name) ? "page" : "worker",
    input: event.input,
    open: true,
    output: "",
    isError: false,
    errorCode: null,
    milliseconds: 0,
  };
}

/**
 * @param {State} state
 * @param {TurnEvent} event
 * @returns {Entry[]}
 */
function toolEnded(state, event) {
  const isThis = (/** @type {Entry} */ entry) => entry.kind === "tool" && entry.call === event.executionId;
  const result = {
    open: false,
    output: event.content ?? "",
    isError: event.isError ?? false,
    errorCode: event.errorCode ?? null,
    milliseconds: event.durationMs ?? 0,
  };
  if (state.entries.some(isThis)) {
    return state.entries.map((entry) => (entry.kind === "tool" && isThis(entry) ? { ...entry, ...result } : entry));
  }
  // A call that was refused has an end without a start; what it was to do is known where a person was asked.
  const asked = state.entries.find((entry) => entry.kind === "question" && entry.call === event.id);
  const input = asked?.kind === "question" ? asked.args : event.input;
  return [...closed(state.entries), { ...tool(state, { ...event, input }), ...result }];
}

/**
 * An entry of a turn that has ended.
 * @param {Entry} entry
 * @returns {Entry}
 */
function over(entry) {
  if (entry.kind === "question" && /^(waiting|deciding)$/.test(entry.outcome)) return { ...entry, outcome: "cancelled" };
  return "open" in entry ? { ...entry, open: false } : entry;
}

/**
 * @param {State} state
 * @param {string} stopReason
 * @param {Failure | null} failure
 * @returns {State}
 */
function ended(state, stopReason, failure) {
  const entries = state.entries.map(over);
  const last = entries.findLast((entry) => entry.kind === "answer");
  const note = failure ? told(failure) : ENDS[stopReason];
  const status = note ?? (last?.kind === "answer" ? last.text : "");
  if (failure) entries.push({ kind: "error", failure });
  else if (note) entries.push({ kind: "notice", text: note });
  return { ...state, entries, turn: "idle", status };
}
