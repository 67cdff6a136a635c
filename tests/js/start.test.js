// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { requireFeatures, watchSilence } from "../../web/start.js";
import { FakeClock } from "./fakes.js";

/** Runs `work` in a world without some globals. */
function without(/** @type {string[]} */ names, /** @type {() => void} */ work) {
  const world = /** @type {Record<string, any>} */ (globalThis);
  const kept = names.map((name) => world[name]);
  names.forEach((name) => delete world[name]);
  try {
    work();
  } finally {
    names.forEach((name, index) => (world[name] = kept[index]));
  }
}

/** Node has no Worker; this one reads the options as a browser does. */
class ModuleWorker {
  constructor(/** @type {string} */ url, /** @type {{type: string}} */ { type }) {
    throw new SyntaxError(`${url} is no URL of a ${type}`);
  }
}

const world = /** @type {Record<string, any>} */ (globalThis);

test("platform 08: a browser is told all that it lacks", () => {
  const error = { name: "BootError", code: "unsupported_browser", retryable: false };
  assert.throws(requireFeatures, { ...error, details: { missing: ["module workers"] } });
  world.Worker = class {};
  assert.throws(requireFeatures, { ...error, details: { missing: ["module workers"] } });
  world.Worker = ModuleWorker;
  requireFeatures();
  without(["WebAssembly", "structuredClone", "DecompressionStream"], () => {
    const missing = ["WebAssembly", "structuredClone", "DecompressionStream"];
    const message = "This browser lacks WebAssembly, structuredClone, DecompressionStream.";
    assert.throws(requireFeatures, { ...error, message, details: { missing } });
  });
  const { isWellFormed } = String.prototype;
  Reflect.deleteProperty(String.prototype, "isWellFormed");
  try {
    assert.throws(requireFeatures, { ...error, details: { missing: ["well-formed strings"] } });
  } finally {
    Object.defineProperty(String.prototype, "isWellFormed", { value: isWellFormed, configurable: true });
    delete world.Worker;
  }
});

test("silence is measured from the last sign of life", () => {
  const clock = new FakeClock();
  let silent = 0;
  const watch = watchSilence(clock, 60_000, () => silent++);
  for (let minute = 0; minute < 5; minute++) {
    clock.pass(59_999);
    watch.heard();
  }
  assert.equal(silent, 0);
  clock.pass(59_999);
  assert.equal(silent, 0);
  clock.pass(1);
  assert.deepEqual([silent, clock.running], [1, 0]);
});

test("a timer that is late by more than two seconds starts the wait again", () => {
  const clock = new FakeClock();
  let silent = 0;
  watchSilence(clock, 60_000, () => silent++);
  clock.sleep(62_001);
  assert.equal(silent, 0);
  clock.pass(60_000);
  assert.equal(silent, 1);
});

test("a timer that is a little late counts", () => {
  const clock = new FakeClock();
  let silent = 0;
  watchSilence(clock, 60_000, () => silent++);
  clock.sleep(61_500);
  assert.equal(silent, 1);
});

test("stopping it leaves no timer", () => {
  const clock = new FakeClock();
  watchSilence(clock, 60_000, () => assert.fail("silent")).stop();
  assert.equal(clock.running, 0);
});
