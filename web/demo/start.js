// @ts-check
/** What both demo pages know of their worker: how far its start is, which model answers, and what went wrong. */

/** @typedef {{ code: string, message: string, retryable: boolean, advice?: string }} Failure `advice` is what to do about it. */

/**
 * The model that the visitor has chosen; its key is elsewhere.
 * @typedef {object} Model
 * @property {import("./providers.js").Wire} wire
 * @property {string} server The base URL.
 * @property {string} id
 * @property {boolean} hasKey
 * @property {string} page The origin of the page that asks.
 */

/**
 * @typedef {object} Start
 * @property {"booting" | "ready" | "failed"} phase
 * @property {{ label: string, loaded: number, total: number }} progress Bytes; a total of 0 means unknown.
 * @property {Failure | null} failure Why Python is not there.
 * @property {string} version
 * @property {Script | null} script Where the scripted model plays, once that is known.
 * @property {Model | null} model The real model that answers; null while the script does.
 * @property {boolean} online
 */

/** @typedef {"server" | "worker"} Script */

/**
 * @typedef {{ type: "boot" }
 *   | { type: "progress", phase: string, loaded: number, total: number }
 *   | { type: "ready", version: string, script: Script }
 *   | { type: "lost", failure: Failure }
 *   | { type: "model", model: Model | null }
 *   | { type: "online", online: boolean }} StartAction
 */

const PHASES = /** @type {Record<string, string>} */ ({
  download: "Downloading Python",
  start: "Starting Python",
  packages: "Loading packages",
  modules: "Loading the demo",
  ready: "Ready",
});

/** @type {Start} */
export const START = {
  phase: "booting",
  progress: { label: "Starting", loaded: 0, total: 0 },
  failure: null,
  version: "",
  script: null,
  model: null,
  online: true,
};

/**
 * @template {Start} State
 * @param {State} state
 * @param {StartAction} action
 * @returns {State}
 */
export function started(state, action) {
  switch (action.type) {
    case "boot":
      return { ...state, phase: "booting", failure: null, progress: START.progress };
    case "progress": {
      const label = PHASES[action.phase] ?? action.phase;
      return { ...state, progress: { label, loaded: action.loaded, total: action.total } };
    }
    case "ready":
      return { ...state, phase: "ready", version: action.version, script: action.script };
    case "lost":
      return { ...state, phase: "failed", failure: action.failure };
    case "model":
      return { ...state, model: action.model };
    case "online":
      return { ...state, online: action.online };
  }
}

/**
 * Where the page's own server plays the scripted model, or the worker: on a host that only has files, and without a network.
 * @returns {Promise<Script>}
 */
export async function placeOfScript() {
  const response = await fetch(new URL("provider.json", import.meta.url)).catch(() => null);
  return response?.ok && (await response.json()).baseUrl ? "server" : "worker";
}

/**
 * @param {unknown} error
 * @returns {Failure}
 */
export function failureOf(error) {
  const { code = "error", message = String(error), retryable = false } = /** @type {Partial<Failure>} */ (error ?? {});
  return { code, message, retryable };
}
