// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { entriesOf, unzipped } from "../../worker/pack.js";
import { bufferOf, zipped } from "./fakes.js";

const FILES = { "a/b.pyc": "first", "c.so": "", "d.pyc": "third" };

/** @param {ArrayBuffer} zip */
function read(zip) {
  return Object.fromEntries([...entriesOf(zip)].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]));
}

test("a pack is read whether the host has unpacked it or not", async () => {
  const zip = zipped(FILES);
  assert.deepEqual(read(await unzipped(bufferOf(new Uint8Array(gzipSync(zip))))), FILES);
  assert.deepEqual(read(await unzipped(bufferOf(zip))), FILES);
});

test("what is no pack is refused", () => {
  for (const bytes of [new Uint8Array(3), new TextEncoder().encode("<!doctype html><title>not a pack</title>")]) {
    assert.throws(() => read(bufferOf(bytes)), /no pack/);
  }
});
