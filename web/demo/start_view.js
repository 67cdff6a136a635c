// @ts-check
/** What both demo pages show of their worker: the bar of its start, which model answers, and the settings with the key. */

import { find } from "./element.js";

/** @import { Start } from "./start.js" */

/** @param {Start} state */
export function drawStart(state) {
  drawBoot(state);
  drawFacts(state);
}

/** @param {(key: string) => void} useKey An empty text means no key. */
export function listenToSettings(useKey) {
  const dialog = /** @type {HTMLDialogElement} */ (find("settings"));
  const key = /** @type {HTMLInputElement} */ (find("key"));
  find("open-settings").addEventListener("click", () => dialog.showModal());
  find("cancel-key").addEventListener("click", () => dialog.close());
  find("clear-key").addEventListener("click", () => {
    useKey("");
    dialog.close();
  });
  dialog.addEventListener("close", () => {
    const typed = key.value.trim();
    key.value = "";
    if (dialog.returnValue === "use" && typed) useKey(typed);
    dialog.returnValue = "";
  });
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
  find("where-model").textContent = state.live ? "is Anthropic’s, asked from this tab" : scripted;
  find("badge").textContent = state.live ? "Live model" : "Scripted model";
  find("badge").classList.toggle("live", state.live);
  find("version").textContent = `langfx_web ${state.version}`.trim();
  find("offline").hidden = state.online;
  find("key-state").hidden = !state.live;
  /** @type {HTMLButtonElement} */ (find("clear-key")).disabled = !state.live;
}
