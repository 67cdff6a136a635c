// @ts-check
/** The card of a call that waits for a person: what would be done, two buttons, and a reason for whoever says no. */

import { element } from "./element.js";
import { listed } from "./written.js";

/** @import { Entry } from "./state.js" */
/** @typedef {Entry & { kind: "question" }} Question */
/** @typedef {(id: string, allowed: boolean, reason: string) => void} Decide */

const OUTCOMES = {
  waiting: "Waiting for you",
  deciding: "One moment…",
  allowed: "You allowed it.",
  denied: "You did not allow it.",
  timeout: "Nobody answered in time.",
  cancelled: "Stopped before it was decided.",
};

/**
 * @param {HTMLElement} item
 * @param {Question} question
 */
export function createQuestion(item, question) {
  const title = element("h3", "asks", question.reason);
  title.id = `question-${question.id}`;
  const reason = element("input", "reason");
  reason.type = "text";
  reason.maxLength = 200;
  reason.placeholder = "Why not? (optional)";
  reason.setAttribute("aria-label", "Reason for a denial");
  const allow = button("solid allow", "Allow");
  const deny = button("plain deny", "Deny");
  const group = element(
    "div",
    "card",
    title,
    element("code", "call", `${question.tool}(${listed(question.args)})`),
    element("p", "decided"),
    element("div", "decide", reason, element("div", "choices", deny, allow)),
  );
  group.setAttribute("role", "group");
  group.setAttribute("aria-labelledby", title.id);
  item.append(group);
}

/**
 * @param {HTMLElement} item
 * @param {Question} question
 */
export function updateQuestion(item, question) {
  item.dataset["outcome"] = question.outcome;
  const [decided, decide] = [part(item, ".decided"), part(item, ".decide")];
  decided.textContent = OUTCOMES[question.outcome] + (question.why ? ` “${question.why}”` : "");
  const hadFocus = decide.contains(document.activeElement);
  decide.hidden = question.outcome !== "waiting";
  // A button that goes takes the focus with it.
  if (hadFocus && decide.hidden) document.getElementById("prompt")?.focus();
}

/**
 * @param {HTMLElement} list
 * @param {Decide} decide
 */
export function listenToQuestions(list, decide) {
  list.addEventListener("click", ({ target }) => {
    const pressed = target instanceof Element && target.closest(".question button");
    const item = pressed && pressed.closest(".question");
    const id = item && item.querySelector("h3")?.id.replace("question-", "");
    if (!id) return;
    const reason = /** @type {HTMLInputElement} */ (item.querySelector(".reason")).value.trim();
    decide(id, pressed.classList.contains("allow"), reason);
  });
  list.addEventListener("keydown", (event) => {
    const field = event.target instanceof Element && event.target.closest(".question .reason");
    if (!field || event.key !== "Enter") return;
    event.preventDefault();
    /** @type {HTMLElement} */ (field.closest(".decide")?.querySelector(".deny")).click();
  });
}

/**
 * @param {string} className
 * @param {string} text
 */
function button(className, text) {
  const made = element("button", className, text);
  made.type = "button";
  return made;
}

/**
 * @param {HTMLElement} item
 * @param {string} selector
 */
function part(item, selector) {
  return /** @type {HTMLElement} */ (item.querySelector(selector));
}
