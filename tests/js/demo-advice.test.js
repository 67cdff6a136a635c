// @ts-check
/** What the demo's visitor is told to do about a model that does not answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { advised, told } from "../../web/demo/advice.js";
import { CLASSES, SERVERS, helpToReach, hostOf } from "../../web/demo/providers.js";
import { initial, reduce } from "../../web/demo/state.js";

/** @import { Asked } from "../../web/demo/advice.js" */

const PAGE = "https://demo.example";
/** @type {Asked} */
const ASKED = { server: "https://models.example/v1", hasKey: true, page: PAGE };

/** @param {string} code @param {Asked | null} [asked] */
const advice = (code, asked = ASKED) => advised({ code, message: "No", retryable: false }, asked).advice;

test("a refused key and a missing one get different advice", () => {
  assert.match(advice("authentication") ?? "", /^Type the key again, as models\.example shows it/);
  assert.equal(advice("authentication", { ...ASKED, hasKey: false }), "models.example wants a key: type yours.");
});

test("what browsers block is explained with a way out", () => {
  assert.match(advice("mixed_content") ?? "", /use localhost, or serve the model by https/);
  assert.match(advice("insecure_url") ?? "", /use an https address, or leave the key empty/);
  assert.match(advice("connection") ?? "", /lets pages of https:\/\/demo\.example in \(CORS\)/);
});

test("the script and what is unknown get none", () => {
  assert.equal(advice("connection", null), undefined);
  assert.equal(advice("worker_stopped"), undefined);
});

test("each known server says how it lets the page in, under whatever name of this machine", () => {
  assert.match(helpToReach("http://127.0.0.1:11434/v1", PAGE), /OLLAMA_ORIGINS=https:\/\/demo\.example ollama serve/);
  assert.match(helpToReach("http://localhost:1234/v1", PAGE), /local network, allow it\. .*lms server start --cors/);
  assert.match(helpToReach("https://api.groq.com/openai/v1", PAGE), /whether you are online/);
  assert.doesNotMatch(helpToReach("http://localhost:9/v1", PAGE), /lms|OLLAMA/);
});

test("every server is a version root, by https or on this machine", () => {
  for (const { url } of Object.values(SERVERS).flat()) assert.match(url, /^(https:\/\/|http:\/\/localhost:\d+\/).+[^/]$|^$/);
  assert.deepEqual(Object.keys(SERVERS), Object.keys(CLASSES));
  assert.equal(hostOf("not yet"), "not yet");
});

test("a failed turn shows its advice, and it is read out after the message", () => {
  const model = { wire: /** @type {const} */ ("openai"), id: "m", ...ASKED };
  const failure = { code: "rate_limit", message: "Slow down", retryable: true };
  const chosen = reduce(initial([]), { type: "model", model });
  const state = reduce(chosen, { type: "ended", stopReason: "error", failure });
  assert.equal(state.status, "Slow down. Wait a little and try again.");
  const entry = state.entries.at(-1);
  assert.ok(entry?.kind === "error");
  assert.equal(entry.failure.advice, "Wait a little and try again.");
  assert.equal(told({ ...failure, message: "Slow down!" }), "Slow down!");
});
