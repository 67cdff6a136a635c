// @ts-check
/** The demo: starts the agent's worker, gives it two tools of the page, and joins the pure state to the view. */

import { connect } from "../langfx-web.js";
import { failureOf, placeOfScript } from "./start.js";
import { initial, reduce } from "./state.js";
import { isRunning } from "./trace.js";
import { createView } from "./view.js";
import { VisitorsModel } from "./visitors_model.js";

/** @import { Action } from "./state.js" */

const SCRIPTED_IN_WORKER = ["scripted_notes.py", "scripted_provider.py", "scripted_in_worker.py"];
const here = (/** @type {string} */ name) => new URL(name, import.meta.url).href;

/** Two tools that touch the page. The worker asks for them, they run here. */
const tools = {
  show_order: {
    description: "Point at an order on the customer's page.",
    inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    idempotent: true,
    execute: async (/** @type {{ id: string }} */ { id }) => {
      knownOrder(id);
      dispatch({ type: "order_shown", id });
      return "The customer sees it now.";
    },
  },
  set_note: {
    description: "Stick a short note on an order on the customer's page, in place of an older one.",
    inputSchema: {
      type: "object",
      properties: { id: { type: "string" }, note: { type: "string", maxLength: 80 } },
      required: ["id", "note"],
    },
    idempotent: true,
    execute: async (/** @type {{ id: string, note: string }} */ { id, note }) => {
      knownOrder(id);
      dispatch({ type: "note_set", id, note });
      return "The note is there.";
    },
  },
};

let state = initial(Object.keys(tools));
let drawn = state;
let stopping = new AbortController();
let langfx = /** @type {import("../langfx-web.js").Langfx | null} */ (null);
let session = /** @type {import("../langfx-web.js").Session | null} */ (null);

const visitorsModel = new VisitorsModel({
  python: () => langfx,
  used: (model) => {
    dispatch({ type: "model", model });
    openSession();
  },
});
const draw = createView({ ask, stop, decide, showTrace, startOver, boot, visitorsModel });
addEventListener("online", () => dispatch({ type: "online", online: true }));
addEventListener("offline", () => dispatch({ type: "online", online: false }));
dispatch({ type: "online", online: navigator.onLine });
showTrace(matchMedia("(min-width: 75rem)").matches);
boot();

async function boot() {
  dispatch({ type: "boot" });
  try {
    const script = await placeOfScript();
    const modules = script === "server" ? ["scripted_on_server.py"] : SCRIPTED_IN_WORKER;
    langfx = await connect({
      modules: ["support_agent.py", ...modules, "visitors_model.py", "live.py"].map(here),
      offline: { files: SCRIPTED_IN_WORKER.map(here) },
      tools,
      credentials: visitorsModel.credentials,
      store: "memory",
      onProgress: (progress) => dispatch({ type: "progress", ...progress }),
    });
    langfx.closed.then((end) => end.reason !== "closed" && dispatch({ type: "lost", failure: failureOf(end.error) }));
    await visitorsModel.restore();
    openSession();
    dispatch({ type: "ready", version: langfx.version, script });
    await showOrders();
  } catch (error) {
    dispatch({ type: "lost", failure: failureOf(error) });
  }
}

function openSession() {
  session = langfx?.agent(state.model ? "support-live" : "support").session() ?? null;
}

async function showOrders() {
  if (langfx) dispatch({ type: "orders", orders: await langfx.call("support_agent:list_orders") });
}

/** @param {string} text */
async function ask(text) {
  stopping = new AbortController();
  const events = session?.watch();
  const turn = session?.prompt(text, { signal: stopping.signal });
  if (!turn || !events) return;
  dispatch({ type: "asked", text });
  watch(events);
  try {
    for await (const event of turn) {
      dispatch({ type: "happened", event });
      if (event.type === "tool_end") await showOrders();
    }
    const { stopReason, error } = await turn.result;
    dispatch({ type: "ended", stopReason, failure: error });
  } catch (error) {
    dispatch({ type: "ended", stopReason: "error", failure: failureOf(error) });
  } finally {
    // The last events may come a moment after the turn's own end.
    for (let waits = 0; waits < 20 && isRunning(state.trace); waits++) await new Promise((go) => setTimeout(go, 25));
    events.return?.();
  }
}

/**
 * Shows what a turn does, until nobody wants to know any more.
 * @param {AsyncIterable<import("../langfx-web.js").SessionEvent | import("../langfx-web.js").EventsDropped>} events
 */
async function watch(events) {
  try {
    for await (const event of events) dispatch({ type: "watched", event });
  } catch {
    // The turn has the same failure, and says so.
  }
  dispatch({ type: "unwatched", at: Date.now() });
}

/**
 * @param {string} id
 * @param {boolean} allowed
 * @param {string} why
 */
async function decide(id, allowed, why) {
  dispatch({ type: "decided", id, allowed, why: allowed ? "" : why });
  // A turn that is over meanwhile has closed its questions.
  await (allowed ? session?.answer(id, true) : session?.decline(id, why))?.catch(() => {});
}

/** @param {boolean} shown */
function showTrace(shown) {
  dispatch({ type: "trace_shown", shown });
}

function stop() {
  dispatch({ type: "stopping" });
  stopping.abort();
}

function startOver() {
  openSession();
  dispatch({ type: "started_over" });
}

/** @param {string} id */
function knownOrder(id) {
  if (!state.orders.some((order) => order.id === id)) throw new Error(`There is no order ${id} on the page.`);
}

/**
 * A burst of events is drawn once.
 * @param {Action} action
 */
function dispatch(action) {
  const waiting = drawn !== state;
  state = reduce(state, action);
  if (!waiting) requestAnimationFrame(() => draw((drawn = state)));
}
