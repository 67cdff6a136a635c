// @ts-check
/** The form page's DOM, made from its state. Whatever a model wrote is only ever set as text. */

import { element, find } from "../element.js";
import { listenToModel } from "../model_dialog.js";
import { drawStart } from "../start_view.js";
import { isRunning, written } from "./state.js";

/** @import { QueryEvent } from "../../langfx-web.js" */
/** @import { VisitorsModel } from "../visitors_model.js" */
/** @import { Field, Outcome, State } from "./state.js" */

/**
 * What the visitor can do.
 * @typedef {object} Handlers
 * @property {(note: string) => void} fill
 * @property {() => void} stop
 * @property {() => void} boot
 * @property {VisitorsModel} visitorsModel
 * @property {string} source The URL of the page's Python.
 */

const PILLS = /** @type {Record<Outcome, string>} */ ({
  empty: "empty",
  running: "unconfirmed",
  stopping: "unconfirmed",
  stopped: "unconfirmed",
  confirmed: "confirmed",
  unfit: "does not fit",
  failed: "failed",
});

const VERDICTS = /** @type {Record<Outcome, string>} */ ({
  empty: "Pick a note or write one. The model reads it and fills in the form, letter by letter.",
  running: "The model is writing. Until it is done nothing is checked, and there is no order yet.",
  stopping: "Stopping…",
  stopped: "Stopped. What is there was never checked, and there is no order.",
  confirmed: "This is an Order: Python has checked it as a whole, and built it once.",
  unfit: "The answer is no Order, so there is none. What is wrong with it:",
  failed: "There is no answer:",
});

const LOGGED = 300;
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/**
 * Listens to the page once; the returned function draws a state.
 * @param {Handlers} handlers
 * @returns {(state: State) => void}
 */
export function createView(handlers) {
  let state = /** @type {State | null} */ (null);
  const note = /** @type {HTMLTextAreaElement} */ (find("note"));

  find("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if (state && isRunning(state)) handlers.stop();
    else if (state?.phase === "ready" && note.value.trim()) {
      handlers.fill(note.value.trim());
      find("sheet").scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
  });
  document.addEventListener("keydown", (event) => {
    const dialogOpen = document.querySelector("dialog[open]");
    if (event.key === "Escape" && !dialogOpen && state?.outcome === "running") handlers.stop();
  });
  listenToNotes(note);
  find("boot-again").addEventListener("click", () => handlers.boot());
  find("events").addEventListener("toggle", () => state && drawLog(state.log));
  find("code").addEventListener("toggle", () => showSource(handlers.source), { once: true });
  listenToModel(handlers.visitorsModel);

  return (next) => {
    const before = state;
    state = next;
    if (next === before) return;
    drawStart(next);
    drawAsk(next);
    if (next.fields !== before?.fields || next.rows !== before.rows) drawFields(next);
    drawVerdict(next);
    if (next.log !== before?.log) drawLog(next.log);
    if (next.status !== before?.status) find("status").textContent = next.status;
  };
}

/**
 * A sample fills the note; the one that is there, unchanged, is marked.
 * @param {HTMLTextAreaElement} note
 */
function listenToNotes(note) {
  const samples = [...find("samples").querySelectorAll("button")];
  const mark = () => {
    for (const sample of samples) sample.setAttribute("aria-pressed", String(sample.dataset["note"] === note.value));
  };
  for (const sample of samples) {
    sample.addEventListener("click", () => {
      if (!note.readOnly) note.value = sample.dataset["note"] ?? "";
      mark();
    });
  }
  note.addEventListener("input", mark);
  note.value ||= samples[0]?.dataset["note"] ?? "";
  mark();
}

/** @param {State} state */
function drawAsk(state) {
  const running = isRunning(state);
  const button = /** @type {HTMLButtonElement} */ (find("fill"));
  button.disabled = state.phase !== "ready" || state.outcome === "stopping";
  button.textContent = running ? "Stop" : "Fill in the form";
  button.classList.toggle("stop", running);
  find("keys").hidden = !running;
  /** @type {HTMLTextAreaElement} */ (find("note")).readOnly = running;
  for (const sample of find("samples").querySelectorAll("button")) {
    sample.setAttribute("aria-disabled", String(running));
  }
}

/** @param {State} state */
function drawFields(state) {
  drawRows(state.rows);
  for (const holder of find("sheet").querySelectorAll("[data-path]")) {
    if (holder instanceof HTMLElement) drawField(holder, state.fields[holder.dataset["path"] ?? ""]);
  }
}

/** @param {number} count */
function drawRows(count) {
  const body = find("items");
  while (body.children.length > count) body.lastElementChild?.remove();
  while (body.children.length < count) {
    const index = body.children.length;
    body.append(element("tr", "", cell(`items.${index}.quantity`), cell(`items.${index}.article`)));
  }
}

/** @param {string} path */
function cell(path) {
  const value = element("output", "");
  value.setAttribute("aria-live", "off");
  const holder = element("td", "", value);
  holder.dataset["path"] = path;
  return holder;
}

/**
 * @param {HTMLElement} holder
 * @param {Field | undefined} field
 */
function drawField(holder, field) {
  holder.dataset["mark"] = field?.mark ?? "empty";
  for (const radio of holder.querySelectorAll("input")) radio.checked = field !== undefined && radio.value === field.text;
  const output = holder.querySelector("output");
  if (output) set(output, field ? shown(output, field) : "");
  output?.classList.toggle("none", field?.value === null);
  drawProblem(holder, field?.problem ?? "");
}

/**
 * @param {HTMLOutputElement} output
 * @param {Field} field
 */
function shown(output, field) {
  if (field.value === null) return "not said";
  const isDate = output.dataset["kind"] === "date" && field.mark === "confirmed";
  return isDate ? DAY.format(new Date(`${field.text}T12:00`)) : field.text;
}

/**
 * @param {HTMLElement} holder
 * @param {string} problem
 */
function drawProblem(holder, problem) {
  const there = holder.querySelector(":scope > .problem");
  if (!problem) there?.remove();
  else if (there) set(there, problem);
  else holder.append(element("p", "problem", problem));
}

/** @param {State} state */
function drawVerdict(state) {
  const { outcome, refusal, problems } = state;
  const pill = find("pill");
  set(pill, PILLS[outcome]);
  pill.className = `pill ${outcome}`;
  find("sheet").dataset["outcome"] = outcome;
  set(find("verdict-text"), VERDICTS[outcome]);
  const told = outcome === "unfit" ? problems.map(({ path, message }) => fault(written(path), message)) : [];
  if (outcome === "failed" && refusal) told.push(fault(refusal.code, refusal.message));
  if (outcome === "failed" && refusal?.advice) told.push(element("li", "", refusal.advice));
  find("problems").replaceChildren(...told);
}

/**
 * @param {string} place
 * @param {string} message
 */
function fault(place, message) {
  return element("li", "", element("code", "", place), ` ${message}`);
}

/**
 * The newest events, while the list is unfolded.
 * @param {QueryEvent[]} log
 */
function drawLog(log) {
  const count = log.length;
  set(find("count"), count === 0 ? "no event yet" : `${count} ${count === 1 ? "event" : "events"}`);
  if (!(/** @type {HTMLDetailsElement} */ (find("events")).open)) return;
  const list = find("log");
  list.replaceChildren(...log.slice(-LOGGED).map(logged));
  list.scrollTop = list.scrollHeight;
}

/** @param {QueryEvent} event */
function logged({ type, ...fields }) {
  const text = JSON.stringify({ ...fields, message: undefined }, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  return element("li", "", element("b", "", type), ` ${text}`);
}

/** @param {string} url */
async function showSource(url) {
  const response = await fetch(url).catch(() => null);
  find("source").textContent = response?.ok ? await response.text() : "It could not be loaded.";
}

/**
 * @param {Element} node
 * @param {string} text
 */
function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
