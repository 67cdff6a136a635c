// @ts-check
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { startRuntime } from "../../worker/runtime.js";
import { storeSnapshot } from "../../worker/snapshot.js";
import { bufferOf, FakeCaches, zipped } from "./fakes.js";

/** @typedef {import("../../worker/protocol.js").FileSet} FileSet */

/** What the runtime folder holds, by path. @type {Record<string, {set: FileSet, body: string | Uint8Array}>} */
const FILES = {
  "pyodide/pyodide.mjs": { set: "boot", body: "script" },
  "pyodide/pyodide.asm.wasm": { set: "boot", body: Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) },
  "python.pack": { set: "boot", body: gzipSync("library") },
  "langfx.pack": { set: "boot", body: "our package" },
  "pyodide-lock.json": { set: "boot", body: '{"packages":{}}' },
  "schemas.pack": { set: "schemas", body: gzipSync(zipped({ "pydantic/main.pyc": "pydantic", "core.so": "core" })) },
  "extra.pack": { set: "extra", body: zipped({ "unittest.pyc": "tests" }) },
  "wheels/pydantic-2-py3-none-any.whl": { set: "wheels", body: "wheel" },
  "web/langfx-web.js": { set: "page", body: "page" },
};

/** Paths that the server refuses, with their status. @type {Map<string, number>} */
const refused = new Map();
/** Content types by path. @type {Map<string, string>} */
const types = new Map();
/** @type {string[]} */
let requested = [];
/** @type {import("node:http").Server} */
let server;
let base = "";

before(async () => {
  server = createServer((request, response) => {
    const path = String(request.url).slice("/r/".length);
    requested.push(path);
    if (refused.has(path)) response.writeHead(refused.get(path) ?? 500).end();
    else response.writeHead(200, { "content-type": types.get(path) ?? "text/plain" }).end(FILES[path]?.body ?? "other");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}/r/`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

function manifest() {
  const files = Object.entries(FILES).map(([path, { set, body }]) => {
    const sha256 = `sha256-${createHash("sha256").update(body).digest("base64")}`;
    return [path, { set, size: body.length, sha256 }];
  });
  return {
    format: /** @type {const} */ (1),
    version: "0.1.0",
    pyodide: "p",
    python: "3.14",
    runtime: "r",
    snapshotKey: "k",
    files: Object.fromEntries(files),
  };
}

/**
 * A Pyodide that takes what the real one takes, and keeps it.
 * @param {(options: any) => Promise<any>} [meanwhile] what it does while it loads
 * @param {string} [versions] those of Python and of our package
 */
function fakePyodide(meanwhile = async () => {}, versions = "3.14 0.1.0") {
  /** @type {any} */
  const seen = { written: {}, folders: new Set(), ran: [], imported: [], started: [], destroyed: 0 };
  const writeFile = (/** @type {string} */ path, /** @type {Uint8Array} */ bytes) => (seen.written[path] = text(bytes));
  const entry = {
    start: (/** @type {any[]} */ ...args) => {
      seen.started.push(args);
      return (/** @type {string} */ text) => seen.dispatched.push(text);
    },
    destroy: () => seen.destroyed++,
  };
  const loadPyodide = async (/** @type {any} */ options) => {
    seen.options = options;
    await options.createPyodideModule({});
    await options.fsInit({ writeFile }, { sitePackages: "/site" });
    seen.lock = await options.lockFileContents;
    await meanwhile(options);
    return {
      _api: (seen.api = {}),
      pyimport: (/** @type {string} */ name) => (seen.imported.push(name), entry),
      runPython: (/** @type {string} */ code) => (seen.ran.push(code), versions),
      FS: { mkdirTree: (/** @type {string} */ folder) => seen.folders.add(folder), writeFile },
    };
  };
  return { seen, loadPyodide };
}

const text = (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes);

/** @param {any} loadPyodide @param {string | null} [snapshot] */
function boot(loadPyodide, snapshot = null) {
  requested = [];
  /** @type {any[]} */
  const told = [];
  const started = startRuntime(
    { manifest: manifest(), base, jspi: true, page: "http://127.0.0.1/app", snapshot },
    {
      loadPyodide,
      createPyodideModule: async () => ({ HEAP8: new Int8Array(8), _malloc: () => 0 }),
      post: (posted) => told.push(...JSON.parse(posted)),
      openExchange: () => {},
    },
  );
  return { told, started };
}

test("our package is on the path from the start, and the entry gets its six arguments", async () => {
  const { seen, loadPyodide } = fakePyodide();
  const { started } = boot(loadPyodide);
  const dispatch = await started;
  assert.equal(typeof dispatch, "function");
  assert.deepEqual(seen.written, { "/lib/langfx.zip": "our package" });
  assert.deepEqual(seen.options.env, { PYTHONPATH: "/lib/langfx.zip" });
  assert.deepEqual([seen.options.indexURL, seen.options.packageBaseUrl], [`${base}pyodide/`, `${base}wheels/`]);
  assert.equal(seen.lock, '{"packages":{}}');
  assert.deepEqual([seen.imported, seen.destroyed], [["langfx_web.bridge.entry"], 1]);
  const [[post, openExchange, load, page, packages, enter]] = seen.started;
  assert.deepEqual(
    [post, openExchange, load, packages, enter].map((part) => typeof part),
    ["function", "function", "function", "function", "function"],
  );
  const extra = manifest().files["extra.pack"];
  assert.deepEqual(JSON.parse(page), { version: "0.1.0", page: "http://127.0.0.1/app", secure: false, base, extra });
});

test("while it loads, fetch answers from the downloads; later it is the original", async () => {
  const original = globalThis.fetch;
  const { seen, loadPyodide } = fakePyodide(async () => {
    seen.library = await (await fetch(`${base}python.pack`)).text();
    seen.other = await (await fetch(`${base}somewhere/else`)).text();
    seen.standIn = globalThis.fetch;
  });
  await boot(loadPyodide).started;
  assert.equal(seen.library, "library", "unpacked on the way");
  assert.equal(seen.other, "other");
  assert.equal(globalThis.fetch, original);
  assert.equal(await (await seen.standIn(`${base}later`)).text(), "other", "a captured stand-in passes on");
});

for (const type of ["application/wasm", "text/plain"]) {
  test(`WebAssembly served as ${type} is asked for once and instantiated`, async () => {
    types.set("pyodide/pyodide.asm.wasm", type);
    const { instantiateStreaming } = WebAssembly;
    const { seen, loadPyodide } = fakePyodide(async ({ indexURL }) => {
      const answer = fetch(new URL(`${indexURL}pyodide.asm.wasm`));
      seen.wasm = await WebAssembly.instantiateStreaming(answer, {});
    });
    await boot(loadPyodide).started;
    assert.ok(seen.wasm.module instanceof WebAssembly.Module);
    assert.ok(seen.wasm.instance instanceof WebAssembly.Instance);
    assert.equal(requested.filter((path) => path === "pyodide/pyodide.asm.wasm").length, 1);
    assert.equal(WebAssembly.instantiateStreaming, instantiateStreaming);
  });
}

test("WebAssembly that cannot be instantiated ends a boot that Pyodide would let hang", async () => {
  const { loadPyodide } = fakePyodide(async () => {
    WebAssembly.instantiateStreaming(new Response(), /** @type {any} */ ("no imports")).catch(() => {});
    await new Promise(() => {});
  });
  await assert.rejects(boot(loadPyodide).started, TypeError);
});

test("progress counts the boot set, never falls, and ends at the total", async () => {
  const { seen, loadPyodide } = fakePyodide();
  const { told, started } = boot(loadPyodide);
  await started;
  const enter = seen.started[0].at(-1);
  enter("modules");
  const total = Object.values(FILES).reduce((sum, { set, body }) => sum + (set === "boot" ? body.length : 0), 0);
  const progress = told.filter(({ kind }) => kind === "progress");
  assert.ok(progress.every((entry) => entry.total === total));
  assert.deepEqual(
    progress.map(({ loaded }) => loaded),
    progress.map(({ loaded }) => loaded).sort((a, b) => a - b),
  );
  assert.deepEqual(
    progress.map(({ phase }) => phase),
    ["download", "start", "packages", "modules"],
  );
  assert.equal(progress[0].loaded, "script".length, "the scripts are there, the rest is not");
  assert.equal(progress[1].loaded, total);
});

test("a file that fails ends a boot that Pyodide would let hang", async () => {
  const original = globalThis.fetch;
  refused.set("pyodide/pyodide.asm.wasm", 404);
  try {
    const { loadPyodide } = fakePyodide(({ indexURL }) => fetch(`${indexURL}pyodide.asm.wasm`));
    await assert.rejects(boot(loadPyodide).started, {
      code: "download_failed",
      details: { file: "pyodide/pyodide.asm.wasm", status: 404 },
    });
    assert.equal(globalThis.fetch, original);
  } finally {
    refused.clear();
  }
});

test("a fatal error of Pyodide is posted", async () => {
  const { seen, loadPyodide } = fakePyodide();
  const { told, started } = boot(loadPyodide);
  await started;
  seen.api.on_fatal(new RangeError("Maximum call stack size exceeded"));
  assert.deepEqual(told.at(-1), {
    kind: "fatal",
    error: {
      code: "worker_stopped",
      name: "WorkerStoppedError",
      message: "Python stopped: Maximum call stack size exceeded",
      retryable: true,
      details: {},
    },
  });
});

test("Python's output is posted as log", async () => {
  const { loadPyodide } = fakePyodide(async ({ stdout, stderr }) => (stdout("out"), stderr("err")));
  const { told, started } = boot(loadPyodide);
  await started;
  assert.deepEqual(
    told.filter(({ kind }) => kind === "log"),
    [
      { kind: "log", level: "info", text: "out" },
      { kind: "log", level: "warn", text: "err" },
    ],
  );
});

test("a pack is written once, however often Python asks, and Python looks again", async () => {
  const { seen, loadPyodide } = fakePyodide();
  await boot(loadPyodide).started;
  const load = seen.started[0][2];
  seen.ran = [];
  assert.deepEqual(await Promise.all([load("schemas"), load("schemas")]), ["", ""]);
  assert.deepEqual(seen.written, {
    "/lib/langfx.zip": "our package",
    "/site/core.so": "core",
    "/site/pydantic/main.pyc": "pydantic",
  });
  assert.deepEqual([...seen.folders].sort(), ["/site", "/site/pydantic"]);
  assert.deepEqual(seen.ran, ["import importlib; importlib.invalidate_caches()"]);
});

test("only what is asked for is downloaded: no wheel, and the rest of the library on demand", async () => {
  const { seen, loadPyodide } = fakePyodide();
  await boot(loadPyodide).started;
  assert.ok(!requested.some((path) => path.startsWith("wheels/") || path === "extra.pack"));
  assert.equal(await seen.started[0][2]("extra"), "");
  assert.equal(seen.written["/site/unittest.pyc"], "tests");
});

test("a pack that cannot be downloaded does not stop the start; the next call tries again", async () => {
  const file = "schemas.pack";
  refused.set(file, 404);
  const { seen, loadPyodide } = fakePyodide();
  await boot(loadPyodide).started;
  const load = seen.started[0][2];
  const error = JSON.parse(await load("schemas"));
  assert.deepEqual([error.code, error.details], ["download_failed", { file, status: 404 }]);
  refused.clear();
  assert.equal(await load("schemas"), "");
  assert.equal(seen.written["/site/core.so"], "core");
});

test("packs of another version are told at once", async () => {
  const { loadPyodide } = fakePyodide(undefined, "3.13 0.1.0");
  await assert.rejects(boot(loadPyodide).started, {
    code: "boot_failed",
    details: { found: "3.13 0.1.0", expected: "3.14 0.1.0" },
  });
});

test("a manifest without our package is told at once", async () => {
  const { loadPyodide } = fakePyodide();
  const { files, ...rest } = manifest();
  delete files["langfx.pack"];
  const parts = { loadPyodide, createPyodideModule: async () => /** @type {any} */ ({}), post: () => {}, openExchange: () => {} };
  await assert.rejects(startRuntime({ manifest: { files, ...rest }, base, jspi: true, page: "", snapshot: null }, parts), {
    code: "boot_failed",
  });
});

const AT = "http://127.0.0.1/langfx-web-snapshot/k/";

/** A cache with a snapshot and an unzipped pack in it. */
async function withSnapshot() {
  const caches = FakeCaches.install();
  const files = { "langfx.pack": bufferOf(new TextEncoder().encode("our package")) };
  await storeSnapshot(AT, { bytes: new TextEncoder().encode("memory"), heapSize: 8, files });
  return caches;
}

test("a snapshot is given to Pyodide, packs come from beside it, and the page is told", async () => {
  await withSnapshot();
  const { seen, loadPyodide } = fakePyodide();
  const { told, started } = boot(loadPyodide, AT);
  await started;
  assert.equal(text(seen.options._loadSnapshot), "memory");
  assert.equal(seen.written["/lib/langfx.zip"], "our package");
  assert.ok(!requested.includes("langfx.pack"));
  assert.deepEqual(
    told.filter(({ kind }) => kind === "snapshot"),
    [
      { kind: "snapshot", state: "found" },
      { kind: "snapshot", state: "restored" },
    ],
  );
});

test("nothing is looked for where none may be, and found where none is", async () => {
  for (const url of [null, "http://127.0.0.1/langfx-web-snapshot/other/"]) {
    await withSnapshot();
    const { seen, loadPyodide } = fakePyodide();
    const { told, started } = boot(loadPyodide, url);
    await started;
    assert.ok(!("_loadSnapshot" in seen.options));
    assert.ok(!told.some(({ kind }) => kind === "snapshot"));
  }
});

for (const [name, fail] of Object.entries({
  "Pyodide that refuses it": fakePyodide(() => Promise.reject(new Error("build id mismatch"))),
  "another version in it": fakePyodide(undefined, "3.13 0.1.0"),
})) {
  test(`${name}: the page is told why, and nothing else comes`, async () => {
    await withSnapshot();
    const { told, started } = boot(fail.loadPyodide, AT);
    let settled = false;
    started.then(
      () => (settled = true),
      () => (settled = true),
    );
    const failure = () => told.find(({ state }) => state === "failed");
    while (!failure()) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match(failure().reason, /build id mismatch|3\.13 0\.1\.0/);
    assert.equal(settled, false);
  });
}

test("a download that fails is no fault of the snapshot", async () => {
  await withSnapshot();
  refused.set("pyodide/pyodide.asm.wasm", 404);
  try {
    const { loadPyodide } = fakePyodide(() => new Promise(() => {}));
    await assert.rejects(boot(loadPyodide, AT).started, { code: "download_failed" });
  } finally {
    refused.clear();
  }
});
