// @ts-check
/** The form page: starts a worker, streams the order in a note from it, and joins the pure state to the view. */

import { connect } from "../../langfx-web.js";
import { failureOf, placeOfScript } from "../start.js";
import { INITIAL, isRunning, reduce } from "./state.js";
import { createView } from "./view.js";

/** @import { Action } from "./state.js" */

const SCRIPTED_IN_WORKER = ["../scripted_notes.py", "../scripted_provider.py", "form_in_worker.py"];
const here = (/** @type {string} */ name) => new URL(name, import.meta.url).href;

let state = INITIAL;
let drawn = state;
let apiKey = "";
let stopping = new AbortController();
let langfx = /** @type {import("../../langfx-web.js").Langfx | null} */ (null);

const draw = createView({ fill, stop, useKey, boot, source: here("order_form.py") });
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
      modules: ["order_form.py", ...modules, "form_live.py"].map(here),
      offline: { files: SCRIPTED_IN_WORKER.map(here) },
      // Over at once, so that Python asks anew each time and a key that was cleared is not kept.
      credentials: async () => ({ apiKey, expiresAt: Date.now() }),
      store: "memory",
      onProgress: (progress) => dispatch({ type: "progress", ...progress }),
    });
    langfx.closed.then((end) => end.reason !== "closed" && dispatch({ type: "lost", failure: failureOf(end.error) }));
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
  if (state.live) return "form_live";
  return state.script === "server" ? "form_on_server" : "form_in_worker";
}

function stop() {
  dispatch({ type: "stopping" });
  stopping.abort();
}

/** @param {string} key Kept in this variable and nowhere else. */
function useKey(key) {
  apiKey = key;
  dispatch({ type: "key", live: key !== "" });
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
