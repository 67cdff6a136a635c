// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { giveErrorsStacks, requireWebAssembly } from "../../worker/engine.js";

test("platform 08: a policy that forbids WebAssembly is named, whenever an engine asks it", (t) => {
  requireWebAssembly();
  for (const name of /** @type {const} */ (["Module", "Instance"])) {
    const forbidden = t.mock.method(WebAssembly, name, () => {
      throw new WebAssembly.CompileError("refused by the policy");
    });
    assert.throws(requireWebAssembly, {
      name: "BootError",
      code: "boot_blocked",
      details: { directive: "script-src 'wasm-unsafe-eval'" },
    });
    forbidden.mock.restore();
  }
});

test("an error that has no stack of its own inherits one; others keep theirs", () => {
  const bare = new TypeError("Load failed");
  Reflect.deleteProperty(bare, "stack");
  giveErrorsStacks();
  assert.equal("stack" in bare, true);
  assert.match(String(new Error("here").stack), /engine\.test\.js/);
  Reflect.deleteProperty(Error.prototype, "stack");
});
