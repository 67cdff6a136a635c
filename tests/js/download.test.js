// @ts-check
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { BootError, download, toWire } from "../../worker/download.js";
import { FakeClock, settled } from "./fakes.js";

const BYTES = new TextEncoder().encode("the right file");
const EXPECTED = /** @type {const} */ ({
  size: BYTES.length,
  sha256: `sha256-${createHash("sha256").update(BYTES).digest("base64")}`,
  set: "boot",
});

/** A fetch that gives these answers, one after the other. @param {...any} answers */
function fetching(...answers) {
  const clock = new FakeClock();
  /** @type {any[]} */
  const requests = [];
  /** @type {number[]} */
  const received = [];
  const options = {
    base: "http://127.0.0.1/runtime/",
    clock,
    received: (/** @type {number} */ bytes) => void received.push(bytes),
    fetch: /** @type {typeof fetch} */ (
      async (url, init) => {
        requests.push([String(url), init?.priority]);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return typeof answer === "function" ? answer(init) : answer;
      }
    ),
  };
  return { options, requests, received, clock };
}

/** @param {Promise<any>} promise @param {FakeClock} clock */
async function afterRetry(promise, clock) {
  promise.catch(() => {});
  await settled();
  clock.pass(499);
  await settled();
  clock.pass(1);
  return promise;
}

test("a file is checked, counted and given as one buffer", async () => {
  const stream = new Blob([BYTES]).stream();
  const { options, requests, received, clock } = fetching(new Response(stream));
  const buffer = await download("wheels/a.whl", EXPECTED, { ...options, priority: "low" });
  assert.deepEqual(new Uint8Array(buffer), BYTES);
  assert.deepEqual(requests, [["http://127.0.0.1/runtime/wheels/a.whl", "low"]]);
  assert.equal(received.at(-1), BYTES.length);
  assert.equal(clock.running, 0);
});

test("a file of unknown size and hash is taken as it is, one of a known hash is checked", async () => {
  const { options, received } = fetching(new Response(BYTES), new Response(BYTES), new Response("another"));
  assert.deepEqual(new Uint8Array(await download("https://far.invalid/a", {}, options)), BYTES);
  assert.equal(received.at(-1), BYTES.length);
  const { sha256 } = EXPECTED;
  assert.deepEqual(new Uint8Array(await download("a", { sha256 }, options)), BYTES);
  await assert.rejects(download("a", { sha256 }, options), { code: "integrity_failed" });
});

test("a network error is tried once more after half a second", async () => {
  const { options, requests, clock } = fetching(new TypeError("reset"), new Response(BYTES));
  const buffer = await afterRetry(download("a", EXPECTED, options), clock);
  assert.equal(buffer.byteLength, BYTES.length);
  assert.equal(requests.length, 2);
});

test("a 5xx status twice fails with file and status, retryable", async () => {
  const { options, requests, clock } = fetching(new Response("", { status: 503 }), new Response("", { status: 502 }));
  await assert.rejects(afterRetry(download("a", EXPECTED, options), clock), {
    name: "BootError",
    code: "download_failed",
    retryable: true,
    details: { file: "a", status: 502 },
  });
  assert.equal(requests.length, 2);
  assert.equal(clock.running, 0);
});

test("offline fails without a status, retryable", async () => {
  const { options, clock } = fetching(new TypeError("Failed to fetch"), new TypeError("Failed to fetch"));
  await assert.rejects(afterRetry(download("a", EXPECTED, options), clock), {
    code: "download_failed",
    retryable: true,
    details: { file: "a", status: null },
  });
});

test("a 404 fails at once", async () => {
  const { options, requests } = fetching(new Response("", { status: 404 }));
  await assert.rejects(download("a", EXPECTED, options), {
    code: "download_failed",
    retryable: false,
    details: { file: "a", status: 404 },
  });
  assert.equal(requests.length, 1);
});

for (const [name, body] of Object.entries({
  "an index page": "<!doctype html><title>App</title><p>Not the file at all",
  "a truncated file": BYTES.slice(0, 5),
  "an empty file": "",
  "a stale file of the same size": BYTES.map((byte) => byte ^ 1),
})) {
  test(`${name} is integrity_failed, with file and type, and not tried again`, async () => {
    const { options, requests } = fetching(new Response(body, { headers: { "content-type": "text/html" } }));
    await assert.rejects(download("a", EXPECTED, options), {
      code: "integrity_failed",
      retryable: false,
      details: { file: "a", type: "text/html" },
    });
    assert.equal(requests.length, 1);
  });
}

test("a pack that the host unpacks is checked as what it is then", async () => {
  const unpacked = { size: EXPECTED.size, sha256: EXPECTED.sha256 };
  const expected = { ...EXPECTED, size: 3, sha256: "sha256-of-the-gzipped", unpacked };
  const { options, received } = fetching(new Response(BYTES), new Response(new Uint8Array([0x1f, 0x8b, 0])));
  assert.equal((await download("a.pack", expected, options)).byteLength, BYTES.length);
  assert.equal(received.at(-1), BYTES.length);
  await assert.rejects(download("a.pack", expected, options), { code: "integrity_failed" });
});

test("a download that stalls is ended and tried once more", async () => {
  const stalled = (/** @type {RequestInit} */ { signal }) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(BYTES.slice(0, 3));
        signal?.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body);
  };
  const { options, requests, clock } = fetching(stalled, new Response(BYTES));
  const buffer = download("a", EXPECTED, options);
  await settled();
  clock.pass(30_000);
  clock.pass(30_000);
  assert.equal((await afterRetry(buffer, clock)).byteLength, BYTES.length);
  assert.equal(requests.length, 2);
});

test("errors cross with their fields; others become boot_failed", () => {
  assert.deepEqual(toWire(new BootError("download_failed", "m", { retryable: true, file: "a" })), {
    code: "download_failed",
    name: "BootError",
    message: "m",
    retryable: true,
    details: { file: "a" },
  });
  assert.deepEqual(toWire(new Error("odd")), {
    code: "boot_failed",
    name: "BootError",
    message: "Python did not start: odd",
    retryable: false,
    details: {},
  });
});
