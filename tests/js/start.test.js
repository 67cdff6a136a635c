// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { requireFeatures, watchSilence } from "../../web/start.js";
import { FakeClock } from "./fakes.js";

test("a browser without workers is told what it lacks", () => {
  assert.throws(requireFeatures, {
    name: "BootError",
    code: "unsupported_browser",
    details: { missing: ["module workers"] },
  });
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
