// @ts-check
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { LIMITS, SNAPSHOT_CACHE } from "../../worker/protocol.js";
import { connectTo } from "../../web/connect.js";
import { countingSignal, FakeCaches, FakeClock, FakeEndpoint, settled } from "./fakes.js";

const MANIFEST = /** @type {const} */ ({
  format: 1,
  version: "0.1.0",
  pyodide: "314.0.7",
  python: "3.14.2",
  runtime: "runtime-x",
  snapshotKey: "k",
  files: {},
});
const READY = { kind: "ready", version: "0.1.0", agents: ["support"] };
const TOOL = { description: "Shows.", inputSchema: { type: "object" }, execute: () => null };

/** Starts to connect, with a worker that the test plays. @param {any} [options] */
function start(options = {}) {
  const worker = new FakeEndpoint();
  const clock = new FakeClock();
  const connecting = connectTo(options, {
    manifest: MANIFEST,
    requireFeatures: () => {},
    startWorker: (_, baseUrl) => ({
      worker,
      base: `${baseUrl ?? "http://127.0.0.1"}/runtime-x/`,
      url: "http://127.0.0.1/w.js",
    }),
    clock,
  });
  connecting.catch(() => {});
  return { worker, clock, connecting };
}

/** @param {any} [options] */
async function connected(options) {
  const { worker, clock, connecting } = start(options);
  await settled();
  worker.say(READY);
  return { worker, clock, langfx: await connecting };
}

/** Runs with a console that keeps what it is told. @param {(lines: any[][]) => Promise<void>} work */
async function withConsole(work) {
  const { error } = console;
  /** @type {any[][]} */
  const lines = [];
  console.error = (...args) => void lines.push(args);
  try {
    await work(lines);
  } finally {
    console.error = error;
  }
}

test("the worker gets one boot object, then setup, and ready resolves connect", async () => {
  const { worker, clock, langfx } = await connected({ store: "memory", jspi: false });
  assert.deepEqual(worker.structured, [
    { boot: { manifest: MANIFEST, base: "http://127.0.0.1/runtime-x/", jspi: false, page: "", snapshot: null } },
  ]);
  assert.deepEqual(worker.sent(), [
    {
      kind: "setup",
      id: 1,
      protocol: 1,
      version: "0.1.0",
      modules: [],
      tools: [],
      credentials: false,
      store: "memory",
      resume: true,
    },
  ]);
  assert.equal(langfx.version, "0.1.0");
  assert.equal(clock.running, 0);
});

test("the defaults are IndexedDB, resume and JSPI", async () => {
  const { worker } = await connected();
  const [{ store, resume }] = worker.sent();
  assert.deepEqual([store, resume, worker.structured[0].boot.jspi], ["indexeddb", true, true]);
});

test("tools are declared without their functions", async () => {
  const { worker } = await connected({
    tools: { a: { ...TOOL, idempotent: true }, b: { ...TOOL, timeout: 5, approval: true } },
    credentials: () => "k",
  });
  const [{ tools, credentials }] = worker.sent();
  assert.deepEqual(tools, [
    { name: "a", description: "Shows.", inputSchema: { type: "object" }, idempotent: true },
    { name: "b", description: "Shows.", inputSchema: { type: "object" }, timeout: 5, approval: true },
  ]);
  assert.equal(credentials, true);
});

for (const [name, options] of Object.entries({
  "an unknown option": { modules: [], nope: 1 },
  "an unknown part of offline": { offline: { script: "./sw.js" } },
  "a method of every object": { toString: 1 },
  "one module that is no list": { modules: "./a.py" },
  "an unknown store": { store: "disk" },
  "a timeout of 0": { timeout: 0 },
  "a tool without execute": { tools: { a: { description: "", inputSchema: {} } } },
  "a tool with an unknown field": { tools: { a: { ...TOOL, retries: 3 } } },
  "no object": null,
})) {
  test(`${name} is invalid_argument, before a worker starts`, async () => {
    const { worker, connecting } = start(options);
    await assert.rejects(connecting, { name: "InvalidArgumentError", code: "invalid_argument" });
    assert.equal(worker.structured.length, 0);
  });
}

test("undefined options count as absent", async () => {
  const { worker } = await connected({ modules: undefined, store: undefined, signal: undefined, timeout: undefined });
  assert.equal(worker.sent()[0].store, "indexeddb");
});

test("module sources are fetched and sent in their order; a missing one is module_failed", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/missing.py") response.writeHead(404).end();
    else response.end(`name = "${request.url}"`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  try {
    const { worker, connecting } = start({ modules: [`${origin}/b.py`, new URL(`${origin}/a.py`)] });
    while (worker.posts.length === 0) await settled();
    assert.deepEqual(worker.sent()[0].modules, [
      { url: `${origin}/b.py`, source: 'name = "/b.py"' },
      { url: `${origin}/a.py`, source: 'name = "/a.py"' },
    ]);
    worker.say(READY);
    await connecting;

    const failing = start({ modules: [`${origin}/b.py`, `${origin}/missing.py`] });
    await assert.rejects(failing.connecting, {
      name: "UserModuleError",
      code: "module_failed",
      details: { module: `${origin}/missing.py`, status: 404 },
    });
    assert.equal(failing.worker.terminated, 1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("a setup that fails rejects and ends the worker", async () => {
  const { worker, connecting } = start();
  await settled();
  worker.say({
    kind: "error",
    id: 1,
    error: { code: "store_unavailable", name: "StoreError", message: "No store.", retryable: false, details: {} },
  });
  await assert.rejects(connecting, { code: "store_unavailable" });
  assert.equal(worker.terminated, 1);
});

test("a worker of another release is bridge_version", async () => {
  const { worker, connecting } = start();
  await settled();
  worker.say({ ...READY, version: "0.2.0" });
  await assert.rejects(connecting, { name: "BridgeError", code: "bridge_version" });
  assert.equal(worker.terminated, 1);
});

test("a boot that fails in the worker rejects with its code and details", async () => {
  const { worker, connecting } = start();
  worker.say({
    kind: "fatal",
    error: {
      code: "download_failed",
      name: "BootError",
      message: "m",
      retryable: true,
      details: { file: "a", status: 503 },
    },
  });
  await assert.rejects(connecting, {
    name: "BootError",
    code: "download_failed",
    retryable: true,
    details: { file: "a", status: 503 },
  });
  assert.equal(worker.terminated, 1);
});

test("a worker script that cannot be loaded is boot_failed with its URL", async () => {
  const { worker, connecting } = start();
  worker.onerror?.({ preventDefault() {} });
  await assert.rejects(connecting, { code: "boot_failed", details: { url: "http://127.0.0.1/w.js" } });
});

test("a minute of silence is boot_timeout; any sign of life starts it anew", async () => {
  const { worker, clock, connecting } = start();
  clock.pass(LIMITS.silence - 1);
  worker.say({ kind: "progress", phase: "download", loaded: 1, total: 9 });
  clock.pass(LIMITS.silence - 1);
  await settled();
  assert.equal(worker.terminated, 0);
  clock.pass(1);
  await assert.rejects(connecting, { code: "boot_timeout", retryable: true });
  assert.deepEqual([worker.terminated, clock.running], [1, 0]);
});

test("a tab that slept does not count as silence", async () => {
  const { worker, clock, connecting } = start();
  clock.sleep(10 * LIMITS.silence);
  await settled();
  assert.equal(worker.terminated, 0);
  clock.pass(LIMITS.silence);
  await assert.rejects(connecting, { code: "boot_timeout" });
});

test("timeout limits the whole start, whatever signs of life there are", async () => {
  const { worker, clock, connecting } = start({ timeout: 3000 });
  clock.pass(2999);
  worker.say({ kind: "progress", phase: "start", loaded: 9, total: 9 });
  clock.pass(1);
  await assert.rejects(connecting, { code: "boot_timeout" });
});

for (const phase of ["before", "download", "modules", "setup"]) {
  test(`aborted ${phase}: rejects with the reason, the worker is gone, no listener stays`, async () => {
    const { signal, abort, listeners } = countingSignal();
    const reason = new Error("left the page");
    if (phase === "before") abort(reason);
    const modules = phase === "modules" ? ["http://127.0.0.1:1/hangs.py"] : [];
    const { worker, connecting } = start({ signal, modules });
    if (phase === "setup") await settled();
    abort(reason);
    await assert.rejects(connecting, reason);
    assert.equal(worker.terminated, phase === "before" ? 0 : 1);
    assert.equal(listeners(), 0);
  });
}

test("once ready, the boot's signal means nothing any more", async () => {
  const { signal, abort, listeners } = countingSignal();
  const { worker } = await connected({ signal });
  assert.equal(listeners(), 0);
  abort();
  assert.equal(worker.terminated, 0);
});

test("progress ends with ready at the total", async () => {
  /** @type {any[]} */
  const seen = [];
  const { worker, connecting } = start({ onProgress: (/** @type {any} */ progress) => seen.push(progress) });
  worker.say({ kind: "progress", phase: "download", loaded: 4, total: 9 });
  await settled();
  worker.say({ kind: "progress", phase: "modules", loaded: 9, total: 9 }, READY);
  await connecting;
  assert.deepEqual(seen, [
    { phase: "download", loaded: 4, total: 9 },
    { phase: "modules", loaded: 9, total: 9 },
    { phase: "ready", loaded: 9, total: 9 },
  ]);
});

test("handlers that fail are reported once each and harm nothing", async () => {
  await withConsole(async (lines) => {
    const fail = () => {
      throw new Error("handler");
    };
    const { worker, langfx } = await connected({ onProgress: fail, onLog: async () => fail(), onEvent: fail });
    for (let repeat = 0; repeat < 2; repeat++) {
      worker.say({ kind: "log", level: "info", text: "t" }, { kind: "diagnostic", event: { type: "x" } });
      await settled();
    }
    assert.deepEqual(lines.map(([text]) => text).sort(), [
      "langfx: onEvent failed",
      "langfx: onLog failed",
      "langfx: onProgress failed",
    ]);
    const call = langfx.call("m:f");
    worker.say({ kind: "result", id: 2, value: 1 });
    assert.equal(await call, 1);
  });
});

test("logs go to onLog and diagnostics to onEvent; without onLog to the console", async () => {
  /** @type {any[]} */
  const seen = [];
  const { worker } = await connected({
    onLog: (/** @type {any} */ entry) => seen.push(entry),
    onEvent: (/** @type {any} */ event) => seen.push(event),
  });
  worker.say(
    { kind: "log", level: "warn", text: "t" },
    { kind: "diagnostic", event: { type: "session.error", code: "x" } },
  );
  assert.deepEqual(seen, [
    { level: "warn", text: "t" },
    { type: "session.error", code: "x" },
  ]);
  await withConsole(async (lines) => {
    const plain = await connected();
    plain.worker.say({ kind: "log", level: "error", text: "to the console" });
    assert.deepEqual(lines, [["to the console"]]);
  });
});

test("a message that the worker could not read is logged as an error", async () => {
  /** @type {any[]} */
  const seen = [];
  const { worker } = await connected({ onLog: (/** @type {any} */ entry) => seen.push(entry) });
  const error = { code: "bridge_protocol", name: "BridgeError", message: "no JSON", retryable: false, details: {} };
  worker.say({ kind: "error", error });
  assert.deepEqual(seen, [{ level: "error", text: "The worker did not understand a message: no JSON" }]);
});

test("call and stream name their target and arguments", async () => {
  const { worker, langfx } = await connected();
  const call = langfx.call("m:f", { a: 1 });
  langfx.stream("m:g");
  assert.deepEqual(worker.sent().slice(1), [
    { kind: "call", id: 2, target: "m:f", args: { a: 1 } },
    { kind: "stream", id: 3, target: "m:g", args: [] },
  ]);
  worker.say({ kind: "result", id: 2, value: "v" });
  assert.equal(await call, "v");
});

test("agents are reached by name", async () => {
  const { worker, langfx } = await connected();
  langfx.agent("support").session("chat").prompt("Hi");
  assert.equal(worker.sent().at(-1).agent, "support");
});

test("close ends the worker once, and settles closed", async () => {
  const { worker, langfx } = await connected();
  const closing = langfx.close();
  assert.equal(langfx.close(), closing);
  worker.say({ kind: "closed" });
  await closing;
  await langfx.close();
  assert.deepEqual(await langfx.closed, { reason: "closed" });
  assert.deepEqual([worker.terminated, worker.sent("close").length], [1, 1]);
  await assert.rejects(langfx.call("m:f"), { code: "bridge_closed" });
  await assert.rejects(langfx.stream("m:g").next(), { code: "bridge_closed" });
});

test("close waits a quarter of a second for a busy worker, then terminates it", async () => {
  const { worker, langfx, clock } = await connected();
  const closing = langfx.close();
  clock.pass(LIMITS.close - 1);
  await settled();
  assert.equal(worker.terminated, 0);
  clock.pass(1);
  await closing;
  assert.equal(worker.terminated, 1);
});

test("await using closes it", { skip: !Symbol.asyncDispose }, async () => {
  const { worker, langfx } = await connected();
  const disposing = langfx[Symbol.asyncDispose]();
  worker.say({ kind: "closed" });
  await disposing;
  assert.equal(worker.terminated, 1);
});

for (const [name, end, reason] of /** @type {[string, (worker: FakeEndpoint) => void, string][]} */ ([
  [
    "a fatal error",
    (worker) =>
      worker.say({
        kind: "fatal",
        error: {
          code: "worker_stopped",
          name: "WorkerStoppedError",
          message: "Python stopped: stack",
          retryable: true,
          details: {},
        },
      }),
    "fatal",
  ],
  ["an error event", (worker) => worker.onerror?.({ message: "uncaught", preventDefault() {} }), "lost"],
  ["an unreadable message", (worker) => worker.onmessageerror?.(), "lost"],
])) {
  test(`${name} stops everything with worker_stopped, once`, async () => {
    const { worker, langfx, clock } = await connected();
    const calls = [1, 2, 3].map(() => langfx.call("m:f"));
    end(worker);
    for (const call of calls)
      await assert.rejects(call, { name: "WorkerStoppedError", code: "worker_stopped", retryable: true });
    await assert.rejects(langfx.call("m:f"), { code: "worker_stopped" });
    const closed = await langfx.closed;
    assert.equal(closed.reason, reason);
    assert.equal(/** @type {any} */ (closed).error.code, "worker_stopped");
    await langfx.close();
    assert.deepEqual([worker.terminated, clock.running], [1, 0]);
  });
}

/** Starts to connect where snapshots may be kept; `workers` lists those that were started. @param {any} [options] */
function startWithCaches(options = {}) {
  const caches = FakeCaches.install();
  Object.assign(globalThis, { origin: "http://127.0.0.1" });
  /** @type {FakeEndpoint[]} */
  const workers = [];
  /** @type {any[]} */
  const logs = [];
  const clock = new FakeClock();
  const startWorker = () => {
    workers.push(new FakeEndpoint());
    return { worker: workers.at(-1), base: "http://127.0.0.1/runtime-x/", url: "http://127.0.0.1/w.js" };
  };
  const connecting = connectTo(
    { onLog: (/** @type {any} */ entry) => logs.push(entry), ...options },
    { manifest: MANIFEST, requireFeatures: () => {}, startWorker, clock },
  );
  connecting.catch(() => {});
  return { workers, logs, clock, connecting, caches };
}

/** Without the globals that a test has set. @param {() => Promise<void>} work */
function cleanly(work) {
  return async () => {
    try {
      await work();
    } finally {
      FakeCaches.remove();
      Reflect.deleteProperty(globalThis, "origin");
    }
  };
}

const SNAPSHOT_URL = "http://127.0.0.1/langfx-web-snapshot/k/";

test(
  "the worker is told where a snapshot may be, another place without JSPI, none if it is not wanted",
  cleanly(async () => {
    for (const [options, url] of /** @type {const} */ ([
      [{}, SNAPSHOT_URL],
      [{ jspi: false }, "http://127.0.0.1/langfx-web-snapshot/k-plain/"],
      [{ snapshot: false }, null],
    ])) {
      const { workers } = startWithCaches(options);
      assert.equal(workers[0]?.structured[0].boot.snapshot, url);
    }
  }),
);

test(
  "a start that was restored says so",
  cleanly(async () => {
    const { workers, clock, connecting } = startWithCaches();
    await settled();
    workers[0]?.say({ kind: "snapshot", state: "found" }, { kind: "snapshot", state: "restored" }, READY);
    assert.equal((await connecting).snapshot, true);
    assert.equal(clock.running, 0);
  }),
);

for (const [name, fail] of Object.entries({
  "cannot be used": (/** @type {FakeEndpoint} */ worker) =>
    worker.say({ kind: "snapshot", state: "failed", reason: "its bytes were changed" }),
  "takes longer than ten seconds": (/** @type {FakeEndpoint} */ _, /** @type {FakeClock} */ clock) =>
    clock.pass(LIMITS.restore),
})) {
  test(
    `platform 14: if a snapshot ${name}, another worker starts without it, with one warning, and it is dropped`,
    cleanly(async () => {
      const { workers, logs, clock, connecting, caches } = startWithCaches();
      await settled();
      const [first] = /** @type {[FakeEndpoint]} */ (workers);
      first.say({ kind: "snapshot", state: "found" });
      fail(first, clock);
      const second = /** @type {FakeEndpoint} */ (workers[1]);
      assert.deepEqual([workers.length, first.terminated, second.terminated], [2, 1, 0]);
      assert.equal(second.structured[0].boot.snapshot, null);
      assert.deepEqual(second.sent(), first.sent(), "it is set up as the first one was");
      second.say(READY);
      const langfx = await connecting;
      assert.equal(langfx.snapshot, false);
      assert.deepEqual(
        logs.map(({ level }) => level),
        ["warn"],
      );
      const cache = await caches.open(SNAPSHOT_CACHE);
      while (!(await cache.match(`${SNAPSHOT_URL}failures`))) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(await (await cache.match(`${SNAPSHOT_URL}failures`))?.text(), "1");
      const closing = langfx.close();
      second.say({ kind: "closed" });
      await closing;
    }),
  );
}

test(
  "whoever closes early is not followed by a worker that makes a snapshot",
  cleanly(async () => {
    const { workers, clock, connecting } = startWithCaches();
    await settled();
    workers[0]?.say(READY);
    const langfx = await connecting;
    assert.equal(clock.running, 1);
    const closing = langfx.close();
    workers[0]?.say({ kind: "closed" });
    await closing;
    await settled();
    assert.equal(clock.running, 0);
  }),
);
