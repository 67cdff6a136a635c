// @ts-check
/** What a conversation's turns do, as one plain value: a tree made of the events of `session.watch()`. */

import { listed, pretty } from "./written.js";

/** @import { EventsDropped, NodeEvent, SessionEvent, TraceValue, Usage } from "../langfx-web.js" */

/** @typedef {{ input: number, output: number, cached: number }} Tokens */

/**
 * A piece of work. Times are in milliseconds since 1970; `tokens` are its own; `args` and `result` are texts to show.
 * @typedef {object} Node
 * @property {string} id
 * @property {string | null} parent
 * @property {"turn" | "agent" | "step" | "tool" | "query" | "action"} kind
 * @property {string} title
 * @property {"running" | "ok" | "error" | "cancelled"} status
 * @property {number} start
 * @property {number | null} end
 * @property {{ code: string, message: string } | null} error
 * @property {Tokens | null} tokens
 * @property {string} note How far it says that it is.
 * @property {string} args
 * @property {string} result
 * @property {readonly string[]} children In the order they began.
 */

/**
 * @typedef {object} Trace
 * @property {Readonly<Record<string, Node>>} nodes
 * @property {readonly string[]} turns Those without a parent, oldest first.
 * @property {number} begun Turns so far.
 * @property {number} left Nodes of a long turn that are not kept, and events that came too fast.
 */

/** Nodes that are kept. */
export const MOST_NODES = 300;
const MOST_TEXT = 2000;

/** @type {Trace} */
export const NOTHING = { nodes: {}, turns: [], begun: 0, left: 0 };

/**
 * @param {Trace} trace
 * @param {SessionEvent | EventsDropped} event
 * @returns {Trace}
 */
export function traced(trace, event) {
  switch (event.type) {
    case "action_start":
    case "query_start":
    case "action_end":
    case "query_end":
      return event.node.id in trace.nodes ? changed(trace, event.node) : added(trace, event);
    case "progress_update": {
      const node = trace.nodes[event.nodeId];
      const part = event.fraction === null ? "" : ` ${Math.round(event.fraction * 100)} %`;
      return node ? withNode(trace, { ...node, note: event.title + part }) : trace;
    }
    case "events_dropped":
      return { ...trace, left: trace.left + event.count };
    default:
      return trace;
  }
}

/**
 * Nothing runs any more, whatever was not heard of.
 * @param {Trace} trace
 * @param {number} now
 * @returns {Trace}
 */
export function settled(trace, now) {
  if (!isRunning(trace)) return trace;
  const nodes = Object.values(trace.nodes).map((node) =>
    node.end === null ? { ...node, status: /** @type {const} */ ("cancelled"), end: now } : node,
  );
  return { ...trace, nodes: Object.fromEntries(nodes.map((node) => [node.id, node])) };
}

/** @param {Trace} trace */
export const isRunning = ({ nodes }) => Object.values(nodes).some((node) => node.end === null);

/**
 * What a piece of work cost with all that is below it; null while nothing is known.
 * @param {Trace} trace
 * @param {string} id
 * @returns {Tokens | null}
 */
export function tokensOf({ nodes }, id) {
  let sum = /** @type {Tokens | null} */ (null);
  for (const { tokens } of below(nodes, id)) {
    if (!tokens) continue;
    sum ??= { input: 0, output: 0, cached: 0 };
    sum = {
      input: sum.input + tokens.input,
      output: sum.output + tokens.output,
      cached: sum.cached + tokens.cached,
    };
  }
  return sum;
}

/**
 * A piece of work and all that is below it.
 * @param {Readonly<Record<string, Node>>} nodes
 * @param {string} id
 */
function below(nodes, id) {
  const found = [];
  const pending = [id];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = nodes[next];
    if (node) found.push(node), pending.push(...node.children);
  }
  return found;
}

/**
 * A node that was not known: mostly one that begins.
 * @param {Trace} trace
 * @param {NodeEvent} event
 * @returns {Trace}
 */
function added(trace, { node }) {
  const parent = trace.nodes[node.parentId ?? ""];
  const roomy = withRoom(trace, parent === undefined);
  if (!roomy) return { ...trace, left: trace.left + (node.status === "running" ? 1 : 0) };
  const orphans = roomy.turns.filter((id) => roomy.nodes[id]?.parent === node.id);
  const turns = roomy.turns.filter((id) => !orphans.includes(id));
  const begun = roomy.begun + (parent ? 0 : 1);
  const made = { ...fresh(node, parent === undefined, begun), children: orphans };
  if (!parent) return withNode({ ...roomy, turns: [...turns, node.id], begun }, made);
  return withNode(withNode({ ...roomy, turns }, { ...parent, children: [...parent.children, node.id] }), made);
}

/**
 * The trace with room for one more node: an old turn makes it for a newer one. Null where one turn fills it all.
 * @param {Trace} trace
 * @param {boolean} beginsTurn
 * @returns {Trace | null}
 */
function withRoom(trace, beginsTurn) {
  if (Object.keys(trace.nodes).length < MOST_NODES) return trace;
  const [oldest = "", ...turns] = trace.turns;
  if (turns.length === 0 && !beginsTurn) return null;
  const gone = new Set(below(trace.nodes, oldest).map((node) => node.id));
  const nodes = Object.fromEntries(Object.entries(trace.nodes).filter(([id]) => !gone.has(id)));
  return { ...trace, nodes, turns };
}

/**
 * @param {Trace} trace
 * @param {NodeEvent["node"]} told
 * @returns {Trace}
 */
function changed(trace, told) {
  const node = trace.nodes[told.id];
  return node ? withNode(trace, { ...node, ...facts(told) }) : trace;
}

/**
 * @param {Trace} trace
 * @param {Node} node
 * @returns {Trace}
 */
function withNode(trace, node) {
  return { ...trace, nodes: { ...trace.nodes, [node.id]: node } };
}

/**
 * @param {NodeEvent["node"]} told
 * @param {boolean} isTop
 * @param {number} number
 * @returns {Node}
 */
function fresh(told, isTop, number) {
  const [prefix = "", name = ""] = /^(Agent|Tool):(.*)$/s.exec(told.name)?.slice(1) ?? ["", told.name];
  const base = { id: told.id, parent: told.parentId, note: "", children: [] };
  const args = textOf(told.metadata["args"], listed);
  if (prefix === "Agent") {
    return { ...base, kind: isTop ? "turn" : "agent", title: isTop ? `Turn ${number}` : name, args, ...facts(told) };
  }
  const step = /^step (\d+)$/.exec(name);
  if (told.kind === "step" && step) return { ...base, kind: "step", title: `Step ${Number(step[1]) + 1}`, args, ...facts(told) };
  const kind = told.kind === "tool" || told.kind === "query" ? told.kind : "action";
  return { ...base, kind, title: name, args, ...facts(told) };
}

/** @param {NodeEvent["node"]} told */
function facts(told) {
  return {
    status: told.status,
    start: Date.parse(told.startedAt),
    end: told.endedAt === null ? null : Date.parse(told.endedAt),
    error: told.error && { code: told.error.code, message: told.error.message },
    tokens: told.usage && tokensIn(told.usage),
    result: textOf(told.result),
  };
}

/** @param {Usage} usage */
function tokensIn({ inputTokens, outputTokens, cachedInputTokens }) {
  return { input: inputTokens ?? 0, output: outputTokens ?? 0, cached: cachedInputTokens ?? 0 };
}

/**
 * @param {TraceValue | undefined} value
 * @param {(value: unknown) => string} [written]
 */
function textOf(value, written = pretty) {
  if (value === undefined || ("json" in value && value.json === null)) return "";
  const text = "json" in value ? written(value.json) : (value.text ?? written(value.value ?? value.type));
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
