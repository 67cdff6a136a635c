// @ts-check
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import { Packages } from "../../worker/packages.js";
import { FakeClock } from "./fakes.js";

const BASE = "http://127.0.0.1/r/";
const WHEEL = "wheels/a-1.0-py3-none-any.whl";

const hex = (/** @type {string} */ body) => createHash("sha256").update(body).digest("hex");
const integrity = (/** @type {string} */ body) => `sha256-${createHash("sha256").update(body).digest("base64")}`;

const manifest = /** @type {any} */ ({
  files: {
    "pyodide-lock.json": { size: 2, sha256: integrity("{}"), set: "boot" },
    [WHEEL]: { size: 5, sha256: integrity("wheel"), set: "wheels" },
  },
});

/** What the network has, by address. @type {Map<string, string | number>} */
const network = new Map();
const { fetch: original, location: page } = globalThis;

before(() => {
  globalThis.fetch = async (url) => {
    const answer = network.get(String(url));
    if (answer === undefined) throw new TypeError("Failed to fetch");
    return typeof answer === "number" ? new Response("", { status: answer }) : new Response(answer);
  };
  Object.assign(globalThis, { location: { origin: "http://127.0.0.1" } });
});

after(() => Object.assign(globalThis, { fetch: original, location: page }));

/** Packages of a worker whose Pyodide notes what is installed. @param {Record<string, string | number>} answers */
function worker(answers) {
  network.clear();
  for (const [url, answer] of Object.entries(answers)) network.set(url, answer);
  /** @type {any[]} */
  const installed = [];
  /** @type {any[]} */
  const counted = [];
  const install = async (/** @type {any[]} */ ...[bytes, file, folder, metadata]) => {
    if (file.startsWith("broken")) throw new Error("no zip");
    installed.push([new TextDecoder().decode(bytes), file, folder, metadata.get("PYODIDE_SOURCE")]);
  };
  const loader = { get_install_dir: (/** @type {string} */ place) => `/${place}` };
  const progress = {
    expect: (/** @type {any[]} */ ...file) => counted.push(file),
    received: (/** @type {any[]} */ ...file) => counted.push(file),
  };
  const clock = new FakeClock();
  // A second try after a network error comes at once.
  const after = (/** @type {number} */ wait, /** @type {() => void} */ then) =>
    wait === 500 ? (queueMicrotask(then), () => {}) : clock.after(wait, then);
  const pyodide = /** @type {any} */ ({ _api: { install, package_loader: loader } });
  const packages = new Packages({ pyodide, manifest, base: BASE, clock: { after }, progress });
  return { packages, installed, counted };
}

test("wheels are installed in the order given, each in its place, and counted", async () => {
  const { packages, installed, counted } = worker({ [BASE + WHEEL]: "wheel", "https://far.test/b%2B1.zip?v=1": "far" });
  const wheels = [
    { name: "b", url: "https://far.test/b%2B1.zip?v=1", sha256: hex("far"), to: "dynlib" },
    { name: "a", url: WHEEL, sha256: hex("wheel"), to: "site" },
  ];
  assert.equal(await packages.install(JSON.stringify(wheels)), "[]");
  assert.deepEqual(installed, [
    ["far", "b+1.zip", "/dynlib", "https://far.test/b%2B1.zip?v=1"],
    ["wheel", "a-1.0-py3-none-any.whl", "/site", WHEEL],
  ]);
  assert.ok(counted.some(([file, bytes]) => file === WHEEL && bytes === 5));
});

test("what fails is told by name, and does not keep the others from being installed", async () => {
  const { packages, installed } = worker({
    [BASE + WHEEL]: "wheel",
    [`${BASE}wheels/gone.whl`]: 404,
    "https://far.test/altered.whl": "other",
    [`${BASE}wheels/broken.whl`]: "broken",
  });
  const wheels = [
    { name: "gone", url: "wheels/gone.whl", sha256: hex("gone"), to: "site" },
    { name: "altered", url: "https://far.test/altered.whl", sha256: hex("right"), to: "site" },
    { name: "unreachable", url: "https://far.test/x.whl?key=secret", sha256: "", to: "site" },
    { name: "broken", url: "wheels/broken.whl", sha256: hex("broken"), to: "site" },
    { name: "a", url: WHEEL, sha256: hex("wheel"), to: "site" },
  ];
  const failures = JSON.parse(await packages.install(JSON.stringify(wheels)));
  assert.deepEqual(
    failures.map(({ name, error }) => [name, error.code, error.retryable]),
    [
      ["gone", "download_failed", false],
      ["altered", "integrity_failed", false],
      ["unreachable", "download_failed", true],
      ["broken", "boot_failed", false],
    ],
  );
  assert.equal(installed.length, 1);
  const [, , unreachable] = failures;
  assert.match(unreachable.error.message, /https:\/\/far\.test\/x\.whl could not .*CORS/);
  assert.ok(!JSON.stringify(failures).includes("secret"), "what follows the path of an address may be a key");
});

test("a lock is its text, or the text of the reason why it is not there", async () => {
  assert.equal(await worker({ [`${BASE}pyodide-lock.json`]: "{}" }).packages.lock("pyodide-lock.json"), "{}");
  const failure = JSON.parse(await worker({ [`${BASE}pyodide-lock.json`]: "[]" }).packages.lock("pyodide-lock.json"));
  assert.equal(failure.code, "integrity_failed");
});

test("a file by address is bytes, checked where somebody knows its hash", async () => {
  const { packages } = worker({ "https://far.test/a.whl#sha256=x": "far", "https://far.test/a.whl": "far" });
  assert.deepEqual(await packages.read("https://far.test/a.whl", ""), new TextEncoder().encode("far"));
  assert.deepEqual(await packages.read("https://far.test/a.whl", hex("far")), new TextEncoder().encode("far"));
  const failure = JSON.parse(/** @type {string} */ (await packages.read("https://far.test/a.whl", hex("other"))));
  assert.equal(failure.code, "integrity_failed");
});
