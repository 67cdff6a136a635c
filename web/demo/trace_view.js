// @ts-check
/** The trace's DOM, made from its state: the newest turn on top, each piece of work with its part of the turn's time. */

import { element } from "./element.js";
import { isRunning, tokensOf } from "./trace.js";
import { lasting } from "./written.js";

/** @import { Node, Trace, Tokens } from "./trace.js" */

/** Milliseconds between two looks at the clock while something runs. */
const TICK = 150;

const STATES = { running: "running", ok: "", error: "failed", cancelled: "stopped" };
const KINDS = { turn: "", agent: "agent", step: "model", tool: "tool", query: "query", action: "" };

/** What is drawn of a node. @typedef {{ item: HTMLElement, node: Node | null, parts: Record<string, HTMLElement> }} Drawn */

/**
 * @param {HTMLElement} list
 * @param {HTMLElement} left Where it is said that something is not shown.
 * @returns {(trace: Trace) => void}
 */
export function createTraceView(list, left) {
  const drawn = /** @type {Map<string, Drawn>} */ (new Map());
  let trace = /** @type {Trace | null} */ (null);
  let ticking = 0;

  const tick = () => {
    if (trace) drawTimes(trace, drawn);
    if (trace && isRunning(trace)) return;
    clearInterval(ticking);
    ticking = 0;
  };

  return (next) => {
    if (next === trace) return;
    trace = next;
    for (const [id, { item }] of drawn) {
      if (!next.nodes[id]) item.remove(), drawn.delete(id);
    }
    drawTurns(list, next, drawn);
    left.hidden = next.left === 0;
    left.textContent = `${next.left} more are not shown.`;
    ticking ||= setInterval(tick, TICK);
    tick();
  };
}

/**
 * @param {HTMLElement} list
 * @param {Trace} trace
 * @param {Map<string, Drawn>} drawn
 */
function drawTurns(list, trace, drawn) {
  for (const id of trace.turns) {
    if (!drawn.has(id)) for (const older of list.children) unfold(older, false);
    drawNode(id, trace, drawn);
  }
  place(list, trace.turns.toReversed(), drawn);
}

/**
 * @param {string} id
 * @param {Trace} trace
 * @param {Map<string, Drawn>} drawn
 */
function drawNode(id, trace, drawn) {
  const node = trace.nodes[id];
  if (!node) return;
  let made = drawn.get(id);
  if (!made) drawn.set(id, (made = create(node)));
  const { item, parts } = made;
  for (const child of node.children) drawNode(child, trace, drawn);
  if (made.node?.children !== node.children) {
    place(/** @type {HTMLElement} */ (parts["children"]), node.children, drawn);
    // What turns out to have something below it is unfolded, once.
    if (!made.node?.children.length && node.children.length) unfold(item, true);
  }
  set(parts["tokens"], told(tokensOf(trace, id)));
  if (made.node === node) return;
  item.dataset["kind"] = node.kind;
  item.dataset["status"] = node.status;
  set(parts["note"], node.error?.message ?? node.note);
  drawFacts(/** @type {HTMLElement} */ (parts["facts"]), node);
  made.node = node;
}

/**
 * @param {Node} node
 * @returns {Drawn}
 */
function create({ kind, title }) {
  const make = (/** @type {string} */ name) => element("span", name);
  const parts = /** @type {Record<string, HTMLElement>} */ ({
    tokens: make("tokens"),
    time: make("time"),
    bar: make("bar"),
    note: make("said"),
    facts: element("dl", "facts"),
    children: element("ol", "below"),
  });
  const lane = element("span", "lane", /** @type {HTMLElement} */ (parts["bar"]));
  lane.setAttribute("aria-hidden", "true");
  const { tokens, time, note, facts, children } = /** @type {any} */ (parts);
  const name = element("span", "title", title, " ", element("span", "kind", KINDS[kind]));
  const summary = element("summary", "", name, tokens, time, lane, note);
  return { item: element("li", "", element("details", "", summary, facts, children)), node: null, parts };
}

/**
 * @param {HTMLElement} facts
 * @param {Node} node
 */
function drawFacts(facts, node) {
  const error = node.error ? `${node.error.message} (${node.error.code})` : "";
  const rows = Object.entries({
    Arguments: node.args,
    Result: node.error ? "" : node.result,
    Error: error,
  }).filter(([, text]) => text);
  facts.replaceChildren(
    ...rows.flatMap(([name, text]) => [
      element("dt", "", name),
      element("dd", name === "Error" ? "problem" : "", text),
    ]),
  );
}

/**
 * Bars and durations: all of those that still grow, and once more of those that have just ended.
 * @param {Trace} trace
 * @param {Map<string, Drawn>} drawn
 */
function drawTimes(trace, drawn) {
  const now = Date.now();
  for (const id of trace.turns) {
    const turn = trace.nodes[id];
    const item = turn && drawn.get(id)?.item;
    if (!item || item.dataset["over"]) continue;
    if (turn.end !== null) item.dataset["over"] = "yes";
    drawTime(turn, { from: turn.start, span: (turn.end ?? now) - turn.start || 1, now }, trace, drawn);
  }
}

/**
 * @param {Node} node
 * @param {{ from: number, span: number, now: number }} time
 * @param {Trace} trace
 * @param {Map<string, Drawn>} drawn
 */
function drawTime(node, time, trace, drawn) {
  const parts = drawn.get(node.id)?.parts;
  const end = node.end ?? time.now;
  const duration = lasting(end - node.start);
  const isDenied = node.error?.code === "tool_denied";
  set(parts?.["time"], isDenied ? "denied" : `${STATES[node.status]} ${duration}`.trim());
  const bar = parts?.["bar"];
  if (bar) {
    bar.style.left = `${(100 * (node.start - time.from)) / time.span}%`;
    bar.style.width = `${Math.max(1, (100 * (end - node.start)) / time.span)}%`;
  }
  for (const id of node.children) {
    const child = trace.nodes[id];
    if (child) drawTime(child, time, trace, drawn);
  }
}

/**
 * Puts items in an order, and moves none that is in its place.
 * @param {HTMLElement} list
 * @param {readonly string[]} ids
 * @param {Map<string, Drawn>} drawn
 */
function place(list, ids, drawn) {
  ids.forEach((id, index) => {
    const item = drawn.get(id)?.item;
    if (item && list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  });
}

/**
 * @param {Element} item
 * @param {boolean} isOpen
 */
function unfold(item, isOpen) {
  /** @type {HTMLDetailsElement} */ (item.firstElementChild).open = isOpen;
}

/** @param {Tokens | null} tokens */
function told(tokens) {
  if (!tokens) return "";
  const cached = tokens.cached ? ` (${tokens.cached} cached)` : "";
  return `${tokens.input} in${cached} · ${tokens.output} out`;
}

/**
 * @param {HTMLElement | undefined} node
 * @param {string} text
 */
function set(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}
