// @ts-check
/**
 * From options to a running worker, and what `connect` returns.
 */

import { LIMITS, PROTOCOL, SNAPSHOT_CACHE } from "../worker/protocol.js";
import { onAbort } from "./abort.js";
import { Channel } from "./channel.js";
import { realClock } from "./clock.js";
import { bootError, bridgeClosed, fromWire, LangfxError, workerStopped } from "./errors.js";
import { checkOptions, declareTools, guarded } from "./options.js";
import { Agent } from "./session.js";
import { requireFeatures, startWorker, watchSilence } from "./start.js";

/** @typedef {import("./langfx-web.d.ts").ConnectOptions} ConnectOptions */
/** @typedef {import("../worker/protocol.js").Manifest} Manifest */

/** The default of `quiet`. */
const QUIET = 5_000;

/**
 * What `connect` needs of the world; a test brings its own.
 * @typedef {object} World
 * @property {Manifest} manifest
 * @property {() => void} [requireFeatures]
 * @property {(manifest: Manifest, baseUrl?: string | URL) => {worker: any, base: string, url: string}} [startWorker]
 * @property {import("./clock.js").Clock} [clock]
 * @property {number} [quiet] milliseconds without work before a memory snapshot is made
 */

/**
 * @param {ConnectOptions} options
 * @param {World} world
 * @returns {Promise<Langfx>}
 */
export async function connectTo(options, world) {
  checkOptions(options);
  options.signal?.throwIfAborted();
  (world.requireFeatures ?? requireFeatures)();
  const life = new Life(options, world);
  try {
    const version = await life.setUp();
    return new Langfx(life, version);
  } catch (error) {
    life.end("fatal", /** @type {LangfxError} */ (error));
    throw error;
  }
}

/** One worker from its start to its one end; while it starts, another one may take its place. */
class Life {
  /** @type {Promise<import("./langfx-web.d.ts").ClosedInfo>} */
  closed;
  /** @type {(info: any) => void} */
  #resolveClosed = () => {};
  #options;
  #world;
  /** The running worker and where it is from. @type {{worker: any, base: string, url: string}} */
  #place;
  /** What was sent while it starts. @type {any[]} */
  #sent = [];
  /** Where a memory snapshot is, or will be. @type {string | null} */
  #snapshot;
  /** Whether this start was restored from one. */
  restored = false;
  #stopRestoring = () => {};
  /** @type {import("./channel.js").Endpoint} */
  #endpoint = {
    onmessage: null,
    postMessage: (post, options) => {
      if (!this.#ready) this.#sent.push(post);
      this.#place.worker.postMessage(post, options);
    },
  };
  #ended = false;
  #ready = false;
  /** Ends the wait for the modules' sources. */
  #loading = new AbortController();
  #watch;
  #progress = { loaded: 0, total: 0 };
  #handlers;
  /** @type {(() => void)[]} */
  #bootOnly = [];

  /** @param {ConnectOptions} options @param {World} world */
  constructor(options, world) {
    const clock = world.clock ?? realClock;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#options = options;
    this.#world = { startWorker, quiet: QUIET, ...world, clock };
    this.#handlers = {
      progress: guarded("onProgress", options.onProgress),
      log: guarded("onLog", options.onLog ?? (({ level, text }) => console[level](text))),
      event: guarded("onEvent", options.onEvent),
    };
    const { tools, credentials, signal, timeout } = options;
    this.#snapshot = snapshotUrl(world.manifest, options);
    this.#place = this.#launch(this.#snapshot);
    this.channel = new Channel(this.#endpoint, { tools, credentials, clock, notice: (message) => this.#notice(message) });
    this.#watch = watchSilence(clock, LIMITS.silence, () =>
      this.#timedOut("The worker gave no sign of life", LIMITS.silence),
    );
    this.#bootOnly.push(
      () => this.#watch.stop(),
      onAbort(signal, () => this.end("closed", signal?.reason)),
      timeout === undefined ? () => {} : clock.after(timeout, () => this.#timedOut("Python was not ready", timeout)),
      () => this.#stopRestoring(),
    );
  }

  /** @param {string | null} snapshot */
  #launch(snapshot) {
    const { manifest, startWorker } = this.#world;
    const place = startWorker(manifest, this.#options.baseUrl);
    const { worker, base, url } = place;
    worker.onmessage = (/** @type {any} */ event) => this.#endpoint.onmessage?.(event);
    worker.onerror = (/** @type {ErrorEvent} */ event) => this.#failed(event, url);
    worker.onmessageerror = () => this.end("lost", workerStopped("A message from the worker could not be read."));
    worker.postMessage({ boot: { manifest, base, jspi: this.#options.jspi ?? true, page: pageUrl(), snapshot } });
    return place;
  }

  /** Resolves to the version once Python is ready; rejects with whatever ended the boot. */
  async setUp() {
    const { modules = [], packages, wheels, tools = {}, credentials, store = "indexeddb", resume = true, provider } =
      this.#options;
    const sources = await Promise.all(modules.map((url) => fetchModule(url, this.#loading.signal)));
    const { version } = await this.channel.ask({
      kind: "setup",
      protocol: PROTOCOL,
      version: this.#world.manifest.version,
      modules: sources,
      tools: declareTools(tools),
      credentials: credentials !== undefined,
      store,
      resume,
      provider,
      packages,
      wheels: wheels?.map(absolute),
    });
    if (version !== this.#world.manifest.version) {
      const text = `The page is of version ${this.#world.manifest.version}, the worker of ${version}.`;
      throw new LangfxError("BridgeError", "bridge_version", text);
    }
    this.#ready = true;
    this.#sent = [];
    this.#leaveBoot();
    this.#handlers.progress({ phase: "ready", loaded: this.#progress.total, total: this.#progress.total });
    if (this.#options.offline) this.#keepOffline();
    if (this.#snapshot && !this.restored) this.#prepareSnapshot(this.#snapshot);
    return version;
  }

  async #keepOffline() {
    try {
      await (await import("./offline.js")).keepOffline(this.#options, this.#place.base);
    } catch (error) {
      const text = `This page will not start without a network: ${/** @type {Error} */ (error).message}.`;
      this.#handlers.log({ level: "warn", text });
    }
  }

  /** So that the next start is restored. @param {string} snapshot */
  #prepareSnapshot(snapshot) {
    const { manifest, startWorker, clock, quiet } = this.#world;
    const { baseUrl, jspi = true } = this.#options;
    const page = { clock, quiet, isIdle: () => this.channel.isIdle, over: this.closed };
    const stop = clock.after(quiet, async () => {
      try {
        const { makeSnapshot } = await import("./snapshot.js");
        await makeSnapshot({ manifest, jspi, snapshot }, { ...page, start: () => startWorker(manifest, baseUrl) });
      } catch (error) {
        this.#handlers.log({ level: "debug", text: `No memory snapshot was made: ${error}` });
      }
    });
    this.closed.then(stop);
  }

  /** Without the snapshot. @param {string} reason */
  #startAgain(reason) {
    const snapshot = /** @type {string} */ (this.#snapshot);
    const text = `Python starts without its memory snapshot, which could not be used: ${reason}.`;
    this.#handlers.log({ level: "warn", text });
    dismiss(this.#place.worker);
    this.#place = this.#launch(null);
    for (const post of this.#sent) this.#place.worker.postMessage(post);
    import("./snapshot.js").then(({ dropSnapshot }) => dropSnapshot(snapshot));
  }

  /** @param {import("../worker/protocol.js").Snapshot} notice */
  #restoring({ state, reason = "" }) {
    this.#stopRestoring();
    if (state === "restored") this.restored = true;
    else if (state === "failed") this.#startAgain(reason);
    else this.#stopRestoring = this.#world.clock.after(LIMITS.restore, () => this.#startAgain("it took too long"));
  }

  /** @param {"closed" | "fatal" | "lost"} reason @param {LangfxError} error for all that is pending */
  end(reason, error) {
    if (this.#ended) return;
    this.#ended = true;
    this.#leaveBoot();
    this.#loading.abort(error);
    this.channel.end(error);
    dismiss(this.#place.worker);
    this.#resolveClosed(reason === "closed" ? { reason } : { reason, error });
  }

  #leaveBoot() {
    for (const leave of this.#bootOnly.splice(0)) leave();
  }

  /** @param {any} message one without an id */
  #notice({ kind, ...message }) {
    this.#watch.heard();
    switch (kind) {
      case "progress":
        this.#progress = message;
        return this.#handlers.progress(message);
      case "log":
        return this.#handlers.log(message);
      case "snapshot":
        return this.#restoring(/** @type {any} */ (message));
      case "diagnostic":
        return this.#handlers.event(message.event);
      case "error":
        return this.#handlers.log({
          level: "error",
          text: `The worker did not understand a message: ${message.error.message}`,
        });
      case "fatal":
        return this.end("fatal", this.#ready ? workerStopped(message.error.message) : fromWire(message.error));
    }
  }

  /** @param {ErrorEvent} event without a message if the script could not be loaded @param {string} url */
  #failed(event, url) {
    event.preventDefault();
    const reason = event.message || "it is missing, or not JavaScript";
    if (this.#ready) this.end("lost", workerStopped(`The worker failed: ${reason}`));
    else this.end("lost", bootError("boot_failed", `The worker script ${url} failed: ${reason}.`, { url }));
  }

  /** @param {string} text @param {number} limit */
  #timedOut(text, limit) {
    this.end("lost", bootError("boot_timeout", `${text} within ${limit / 1000} s.`, { retryable: true }));
  }
}

/** Older browsers lack the symbol. @type {typeof Symbol.asyncDispose} */
const asyncDispose = Symbol.asyncDispose ?? Symbol("asyncDispose");

/** The running worker. */
export class Langfx {
  #life;
  /** @type {Promise<void> | undefined} */
  #closing;

  /** @param {Life} life @param {string} version */
  constructor(life, version) {
    this.#life = life;
    this.version = version;
    this.snapshot = life.restored;
    this.closed = life.closed;
  }

  /** @param {string} name of an agent that the modules define */
  agent(name) {
    return new Agent(this.#life.channel, name);
  }

  /**
   * Calls a public function of a module and resolves to what it returns.
   * @param {string} target "module:function"
   * @param {object} [args] an object for keywords, an array for positions
   * @param {{signal?: AbortSignal}} [options]
   */
  call(target, args = [], options) {
    return this.#life.channel.ask({ kind: "call", target, args }, options);
  }

  /**
   * Calls a public async generator of a module; its items are read by iterating.
   * @param {string} target "module:generator"
   * @param {object} [args]
   * @param {{signal?: AbortSignal}} [options]
   */
  stream(target, args = [], options) {
    return this.#life.channel.stream({ kind: "stream", target, args }, options);
  }

  /**
   * Ends the worker. Any number of times.
   * @param {{handoff?: boolean}} [options] `handoff`: open turns may first reach their next safe point
   */
  close({ handoff = false } = {}) {
    this.#closing ??= this.#life.channel.close(handoff).then(() => this.#life.end("closed", bridgeClosed()));
    return this.#closing;
  }

  [asyncDispose]() {
    return this.close();
  }
}

/** @param {string | URL} url relative to the page */
const absolute = (url) => new URL(url, globalThis.document?.baseURI).href;

/**
 * @param {string | URL} url relative to the page
 * @param {AbortSignal} signal
 */
async function fetchModule(url, signal) {
  const address = absolute(url);
  let status = null;
  try {
    const response = await fetch(address, { signal });
    status = response.status;
    if (response.ok) return { url: address, source: await response.text() };
  } catch {
    if (signal.aborted) throw signal.reason;
  }
  const text = `The module ${address} could not be loaded (${status === null ? "no answer" : `status ${status}`}).`;
  throw new LangfxError("UserModuleError", "module_failed", text, { module: String(url), status });
}

/** @param {any} worker */
function dismiss(worker) {
  worker.onmessage = worker.onerror = worker.onmessageerror = null;
  worker.terminate();
}

/**
 * Where the memory snapshot for these options is kept, if one may be: under a URL of this origin that nothing serves.
 * @param {Manifest} manifest
 * @param {ConnectOptions} options
 */
function snapshotUrl({ snapshotKey }, { snapshot = true, jspi = true }) {
  if (!snapshot || !("caches" in globalThis)) return null;
  return new URL(`/${SNAPSHOT_CACHE}/${snapshotKey}${jspi ? "" : "-plain"}/`, origin).href;
}

/** Without query and fragment, which may hold secrets. */
function pageUrl() {
  const { location } = globalThis;
  return location ? location.origin + location.pathname : "";
}
