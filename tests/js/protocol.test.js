// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { TO_PAGE, TO_WORKER } from "../../worker/protocol.js";
import { golden } from "./fakes.js";

/** @param {readonly string[]} fields @param {object} message */
function misfit(fields, message) {
  const required = fields.filter((field) => !field.endsWith("?"));
  const known = fields.map((field) => field.replace("?", ""));
  const given = Object.keys(message).filter((field) => field !== "kind");
  return {
    missing: required.filter((field) => !given.includes(field)),
    unknown: given.filter((field) => !known.includes(field)),
  };
}

for (const [direction, table] of Object.entries({ to_worker: TO_WORKER, to_page: TO_PAGE })) {
  const cases = golden(/** @type {"to_worker" | "to_page"} */ (direction));
  const kinds = /** @type {Record<string, readonly string[]>} */ (table);

  test(`each kind ${direction} has a sample`, () => {
    const seen = new Set(cases.flatMap(({ messages }) => messages.map(({ kind }) => kind)));
    assert.deepEqual([...seen].sort(), Object.keys(kinds).sort());
  });

  test(`samples ${direction} have the fields that the table names`, () => {
    for (const { name, messages } of cases) {
      for (const message of messages) {
        assert.deepEqual(misfit(kinds[message.kind], message), { missing: [], unknown: [] }, name);
      }
    }
  });
}
