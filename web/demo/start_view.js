// @ts-check
/** What both demo pages show of their worker: the bar of its start, and which model answers. */

import { find } from "./element.js";
import { hostOf } from "./providers.js";

/** @import { Start } from "./start.js" */

/** @param {Start} state */
export function drawStart(state) {
  drawBoot(state);
  drawFacts(state);
}

/** @param {Start} state */
function drawBoot(state) {
  const { label, loaded, total } = state.progress;
  const bar = /** @type {HTMLProgressElement} */ (find("boot-bar"));
  find("boot").hidden = state.phase === "ready";
  find("boot").classList.toggle("failed", state.failure !== null);
  find("boot-label").textContent = state.failure
    ? `${state.failure.message} (${state.failure.code})`
    : progressText(label, loaded, total);
  bar.hidden = state.failure !== null;
  bar.max = total || 1;
  // How long Python takes to start is unknown, and the bar does not pretend otherwise.
  if (loaded < total) bar.value = loaded;
  else bar.removeAttribute("value");
  find("boot-again").hidden = state.failure === null;
}

/**
 * @param {string} label
 * @param {number} loaded
 * @param {number} total
 */
function progressText(label, loaded, total) {
  if (!total || loaded >= total) return `${label}…`;
  return `${label}… ${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`;
}

/** @param {Start} state */
function drawFacts(state) {
  const script = { server: "is scripted, asked over HTTP on this origin", worker: "is scripted, played in the worker" };
  const scripted = state.script ? script[state.script] : "is scripted";
  const { model } = state;
  find("where-model").textContent = model ? `is ${model.id}, asked from this tab at ${hostOf(model.server)}` : scripted;
  find("badge").textContent = model ? model.id : "Scripted model";
  find("badge").classList.toggle("live", model !== null);
  find("version").textContent = `langfx_web ${state.version}`.trim();
  find("offline").hidden = state.online;
}
