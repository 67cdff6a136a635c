// @ts-check
/** The conversation's list: one item per entry, touched only when its entry changed. */

import { element } from "./element.js";
import { createQuestion, updateQuestion } from "./question.js";
import { listed, pretty } from "./written.js";

/** @import { Entry } from "./state.js" */
/** @typedef {Entry & { kind: "tool" }} Tool */

/** What each item shows, so that a delta touches one text and an unfolded item stays unfolded. */
const shown = /** @type {WeakMap<Element, Entry>} */ (new WeakMap());

/**
 * @param {HTMLElement} list
 * @param {Entry[]} entries
 */
export function drawEntries(list, entries) {
  while (list.children.length > entries.length) list.lastElementChild?.remove();
  entries.forEach((entry, index) => {
    let item = /** @type {HTMLElement | undefined} */ (list.children[index]);
    if (!item || shown.get(item)?.kind !== entry.kind) {
      const made = create(entry);
      item ? item.replaceWith(made) : list.append(made);
      item = made;
    }
    if (shown.get(item) === entry) return;
    update(item, entry);
    shown.set(item, entry);
  });
}

/**
 * @param {Entry} entry
 * @returns {HTMLElement}
 */
function create(entry) {
  const item = element("li", `entry ${entry.kind}`);
  switch (entry.kind) {
    case "thought":
      item.append(element("details", "", element("summary", "label"), element("p", "text")));
      break;
    case "tool":
      item.append(
        element(
          "details",
          "",
          element("summary", "", element("span", "call"), element("span", "outcome"), element("span", "preview")),
          element(
            "dl",
            "",
            ...[element("dt", "", "Arguments"), element("dd", "input")],
            ...[element("dt", "output-title"), element("dd", "output")],
          ),
        ),
      );
      break;
    case "question":
      createQuestion(item, entry);
      break;
    case "error":
      item.append(element("p", "text"), element("code", "code"));
      if (entry.failure.advice) item.append(element("p", "advice"));
      if (entry.failure.retryable) item.append(element("button", "quiet", "Try again"));
      break;
    default:
      item.append(element("p", "text"));
  }
  return item;
}

/**
 * @param {HTMLElement} item
 * @param {Entry} entry
 */
function update(item, entry) {
  item.classList.toggle("open", "open" in entry && entry.open);
  switch (entry.kind) {
    case "thought":
      set(item, ".label", entry.open ? "Thinking…" : "Thought");
      set(item, ".text", entry.text);
      break;
    case "tool":
      updateTool(item, entry);
      break;
    case "question":
      updateQuestion(item, entry);
      break;
    case "error":
      set(item, ".text", entry.failure.message);
      set(item, ".code", entry.failure.code);
      set(item, ".advice", entry.failure.advice ?? "");
      break;
    default:
      set(item, ".text", entry.text);
  }
}

/**
 * @param {HTMLElement} item
 * @param {Tool} tool
 */
function updateTool(item, tool) {
  item.classList.toggle("failed", tool.isError);
  const place = tool.place === "page" ? "on the page" : "in Python";
  set(item, ".call", `${tool.name}(${tool.input === undefined ? "" : listed(tool.input)})`);
  const outcome = tool.errorCode ?? (tool.isError ? "failed" : "done");
  set(item, ".outcome", tool.open ? `running ${place}` : `${outcome} ${place}, ${tool.milliseconds} ms`);
  set(item, ".preview", tool.open ? "" : tool.output);
  set(item, ".input", pretty(tool.input));
  set(item, ".output-title", tool.isError ? "Error" : "Result");
  set(item, ".output", tool.open ? "not there yet" : pretty(tool.output));
}

/**
 * @param {HTMLElement} item
 * @param {string} selector
 * @param {string} text
 */
function set(item, selector, text) {
  const node = item.querySelector(selector);
  if (node && node.textContent !== text) node.textContent = text;
}
