// @ts-check
/** The form page: starts a worker, streams the order in a note from it, and joins the pure state to the view. */

import { connect } from "../../langfx-web.js";
import { failureOf, placeOfScript } from "../start.js";
import { VisitorsModel } from "../visitors_model.js";
import { INITIAL, isRunning, reduce } from "./state.js";
import { createView } from "./view.js";

/** @import { Action } from "./state.js" */

const SCRIPTED_IN_WORKER = ["../scripted_notes.py", "../scripted_provider.py", "form_in_worker.py"];
const here = (/** @type {string} */ name) => new URL(name, import.meta.url).href;

let state = INITIAL;
let drawn = state;
let stopping = new AbortController();
let langfx = /** @type {import("../../langfx-web.js").Langfx | null} */ (null);

const visitorsModel = new VisitorsModel({
  python: () => langfx,
  used: (model) => dispatch({ type: "model", model }),
});
const draw = createView({ fill, stop, boot, visitorsModel, source: here("order_form.py") });
addEventListener("online", () => dispatch({ type: "online", online: true }));
addEventListener("offline", () => dispatch({ type: "online", online: false }));
dispatch({ type: "online", online: navigator.onLine });
boot();

async function boot() {
  dispatch({ type: "boot" });
  try {
    const script = await placeOfScript();
    const modules = script === "server" ? ["form_on_server.py"] : SCRIPTED_IN_WORKER;
    langfx = await connect({
      modules: ["order_form.py", ...modules, "../visitors_model.py", "form_live.py"].map(here),
      offline: { files: SCRIPTED_IN_WORKER.map(here) },
      credentials: visitorsModel.credentials,
      store: "memory",
      onProgress: (progress) => dispatch({ type: "progress", ...progress }),
    });
    langfx.closed.then((end) => end.reason !== "closed" && dispatch({ type: "lost", failure: failureOf(end.error) }));
    await visitorsModel.restore();
    dispatch({ type: "ready", version: langfx.version, script });
  } catch (error) {
    dispatch({ type: "lost", failure: failureOf(error) });
  }
}

/** @param {string} note */
async function fill(note) {
  if (!langfx || isRunning(state)) return;
  stopping = new AbortController();
  dispatch({ type: "asked" });
  const { signal } = stopping;
  try {
    for await (const event of langfx.stream(`${reader()}:read_note`, { note }, { signal })) {
      dispatch({ type: "happened", event });
    }
  } catch (error) {
    dispatch(signal.aborted ? { type: "stopped" } : { type: "failed", failure: failureOf(error) });
  }
}

/** The module whose model reads the note. */
function reader() {
  if (state.model) return "form_live";
  return state.script === "server" ? "form_on_server" : "form_in_worker";
}

function stop() {
  dispatch({ type: "stopping" });
  stopping.abort();
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
