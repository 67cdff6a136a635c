// @ts-check
/** The demo's DOM, made from its state. Whatever a model or a tool wrote is only ever set as text. */

import { element, find } from "./element.js";
import { drawEntries } from "./entries.js";
import { glyph } from "./glyphs.js";
import { listenToModel } from "./model_dialog.js";
import { listenToQuestions } from "./question.js";
import { drawStart } from "./start_view.js";
import { createTraceView } from "./trace_view.js";

/** @import { Order, State } from "./state.js" */
/** @import { Decide } from "./question.js" */
/** @import { VisitorsModel } from "./visitors_model.js" */

/**
 * What the visitor can do.
 * @typedef {object} Handlers
 * @property {(text: string) => void} ask
 * @property {() => void} stop
 * @property {Decide} decide
 * @property {(shown: boolean) => void} showTrace
 * @property {() => void} startOver
 * @property {() => void} boot
 * @property {VisitorsModel} visitorsModel
 */

/**
 * Listens to the page once; the returned function draws a state.
 * @param {Handlers} handlers
 * @returns {(state: State) => void}
 */
export function createView(handlers) {
  let state = /** @type {State | null} */ (null);
  const prompt = /** @type {HTMLTextAreaElement} */ (find("prompt"));

  const ask = (/** @type {string} */ text) => {
    if (state?.phase !== "ready" || state.turn !== "idle" || !text.trim()) return false;
    handlers.ask(text.trim());
    return true;
  };
  const send = () => {
    if (ask(prompt.value)) prompt.value = "";
    fit(prompt);
  };

  find("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    if (state?.turn === "idle") send();
    else handlers.stop();
  });
  prompt.addEventListener("input", () => fit(prompt));
  prompt.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  document.addEventListener("keydown", (event) => {
    const dialogOpen = document.querySelector("dialog[open]");
    if (event.key === "Escape" && !dialogOpen && state?.turn === "running") handlers.stop();
  });
  for (const button of find("suggestions").querySelectorAll("button")) {
    button.addEventListener("click", () => ask(button.textContent));
  }
  find("orders").addEventListener("click", (event) => {
    const card = event.target instanceof Element && event.target.closest("button");
    if (card) ask(`Where is order ${card.dataset["id"]}?`);
  });
  find("entries").addEventListener("click", (event) => {
    const again = event.target instanceof Element && event.target.closest(".error button");
    const asked = state?.entries.findLast((entry) => entry.kind === "user");
    if (again && asked?.kind === "user") ask(asked.text);
  });
  find("reset").addEventListener("click", () => {
    handlers.startOver();
    prompt.focus();
  });
  find("boot-again").addEventListener("click", () => handlers.boot());
  find("open-trace").addEventListener("click", () => handlers.showTrace(!state?.isTraced));
  find("close-trace").addEventListener("click", () => {
    handlers.showTrace(false);
    find("open-trace").focus();
  });
  listenToQuestions(find("entries"), handlers.decide);
  listenToModel(handlers.visitorsModel);
  const drawTrace = createTraceView(find("turns"), find("trace-left"));

  return (next) => {
    const before = state;
    state = next;
    if (next === before) return;
    drawOrders(next, before);
    drawConversation(next, before);
    drawComposer(next);
    drawStart(next);
    drawPanel(next, before);
    drawTrace(next.trace);
  };
}

/**
 * @param {State} state
 * @param {State | null} before
 */
function drawOrders(state, before) {
  if (state.orders.length === 0) return;
  if (state.orders === before?.orders && state.notes === before.notes && state.shown === before.shown) return;
  const list = find("orders");
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["id"] : undefined;
  list.replaceChildren(...state.orders.map((order) => card(order, state)));
  for (const button of list.querySelectorAll("button")) {
    if (button.dataset["id"] === focused) button.focus();
  }
  const shown = state.shown !== before?.shown && list.querySelector(".shown");
  if (shown) shown.scrollIntoView({ block: "nearest", inline: "center" });
}

/**
 * @param {Order} order
 * @param {State} state
 */
function card(order, state) {
  const button = element("button", "order");
  button.type = "button";
  button.dataset["id"] = order.id;
  if (state.shown === order.id) button.classList.add("shown");
  const status = element("span", `pill ${order.status}`, order.status);
  const number = element("span", "number", `Order ${order.id} · ${order.price.toFixed(2)} €`);
  const item = element("span", "item", order.item);
  const detail = element("span", "detail", order.detail);
  const facts = element("span", "facts", element("span", "top", number, status), item, detail);
  button.append(element("span", "glyph", glyph(order.id)), facts);
  const note = state.notes[order.id];
  if (note) button.append(element("span", "slip", note));
  return element("li", "", button);
}

/**
 * @param {State} state
 * @param {State | null} before
 */
function drawConversation(state, before) {
  const scroll = find("scroll");
  const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  const asked = state.entries.length > (before?.entries.length ?? 0) && state.entries.at(-1)?.kind === "user";
  drawEntries(find("entries"), state.entries);
  find("entries").classList.toggle("waiting", state.turn === "running" && state.entries.at(-1)?.kind === "user");
  find("welcome").hidden = state.entries.length > 0;
  find("reset").hidden = state.entries.length === 0 || state.turn !== "idle";
  if (atEnd || asked) scroll.scrollTop = scroll.scrollHeight;
  if (state.status !== before?.status) find("status").textContent = state.status;
}

/**
 * @param {State} state
 * @param {State | null} before
 */
function drawPanel(state, before) {
  find("trace-blank").hidden = state.trace.turns.length > 0;
  if (state.isTraced === before?.isTraced) return;
  find("trace").hidden = !state.isTraced;
  document.querySelector("main")?.classList.toggle("traced", state.isTraced);
  find("open-trace").setAttribute("aria-expanded", String(state.isTraced));
}

/** @param {State} state */
function drawComposer(state) {
  const send = /** @type {HTMLButtonElement} */ (find("send"));
  const running = state.turn !== "idle";
  send.disabled = state.phase !== "ready" || state.turn === "stopping";
  send.classList.toggle("stop", running);
  find("send-label").textContent = running ? "Stop" : "Send";
  for (const button of find("suggestions").querySelectorAll("button")) {
    button.setAttribute("aria-disabled", String(state.phase !== "ready" || running));
  }
}

/**
 * The field grows with its text.
 * @param {HTMLTextAreaElement} area
 */
function fit(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
