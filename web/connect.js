// @ts-check
/**
 * From options to a running worker, and what `connect` returns.
 */

import { LIMITS, PROTOCOL } from "../worker/protocol.js";
import { onAbort } from "./abort.js";
import { Channel } from "./channel.js";
import { realClock } from "./clock.js";
import { bootError, bridgeClosed, fromWire, LangfxError, workerStopped } from "./errors.js";
import { checkOptions, declareTools, guarded } from "./options.js";
import { Agent } from "./session.js";
import { requireFeatures, startWorker, watchSilence } from "./start.js";

/** @typedef {import("./langfx-web.d.ts").ConnectOptions} ConnectOptions */
/** @typedef {import("../worker/protocol.js").Manifest} Manifest */

/**
 * What `connect` needs of the world; a test brings its own.
 * @typedef {object} World
 * @property {Manifest} manifest
 * @property {() => void} [requireFeatures]
 * @property {(manifest: Manifest, baseUrl?: string | URL) => {worker: any, base: string, url: string}} [startWorker]
 * @property {import("./clock.js").Clock} [clock]
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

/** One worker from its start to its one end. */
class Life {
  /** @type {Promise<import("./langfx-web.d.ts").ClosedInfo>} */
  closed;
  /** @type {(info: any) => void} */
  #resolveClosed = () => {};
  #options;
  #manifest;
  #worker;
  #base;
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
  constructor(options, { manifest, startWorker: start = startWorker, clock = realClock }) {
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#options = options;
    this.#manifest = manifest;
    this.#handlers = {
      progress: guarded("onProgress", options.onProgress),
      log: guarded("onLog", options.onLog ?? (({ level, text }) => console[level](text))),
      event: guarded("onEvent", options.onEvent),
    };
    const { worker, base, url } = start(manifest, options.baseUrl);
    this.#worker = worker;
    this.#base = base;
    worker.onerror = (/** @type {ErrorEvent} */ event) => this.#failed(event, url);
    worker.onmessageerror = () => this.end("lost", workerStopped("A message from the worker could not be read."));
    const { tools, credentials, signal, timeout, jspi = true } = options;
    this.channel = new Channel(worker, { tools, credentials, clock, notice: (message) => this.#notice(message) });
    this.#watch = watchSilence(clock, LIMITS.silence, () =>
      this.#timedOut("The worker gave no sign of life", LIMITS.silence),
    );
    this.#bootOnly.push(
      () => this.#watch.stop(),
      onAbort(signal, () => this.end("closed", signal?.reason)),
      timeout === undefined ? () => {} : clock.after(timeout, () => this.#timedOut("Python was not ready", timeout)),
    );
    worker.postMessage({ boot: { manifest, base, jspi, page: pageUrl() } });
  }

  /** Resolves to the version once Python is ready; rejects with whatever ended the boot. */
  async setUp() {
    const { modules = [], tools = {}, credentials, store = "indexeddb", resume = true, provider } = this.#options;
    const sources = await Promise.all(modules.map((url) => fetchModule(url, this.#loading.signal)));
    const { version } = await this.channel.ask({
      kind: "setup",
      protocol: PROTOCOL,
      version: this.#manifest.version,
      modules: sources,
      tools: declareTools(tools),
      credentials: credentials !== undefined,
      store,
      resume,
      provider,
    });
    if (version !== this.#manifest.version) {
      const text = `The page is of version ${this.#manifest.version}, the worker of ${version}.`;
      throw new LangfxError("BridgeError", "bridge_version", text);
    }
    this.#ready = true;
    this.#leaveBoot();
    this.#handlers.progress({ phase: "ready", loaded: this.#progress.total, total: this.#progress.total });
    if (this.#options.offline) this.#keepOffline();
    return version;
  }

  async #keepOffline() {
    try {
      await (await import("./offline.js")).keepOffline(this.#options, this.#base);
    } catch (error) {
      const text = `This page will not start without a network: ${/** @type {Error} */ (error).message}.`;
      this.#handlers.log({ level: "warn", text });
    }
  }

  /** @param {"closed" | "fatal" | "lost"} reason @param {LangfxError} error for all that is pending */
  end(reason, error) {
    if (this.#ended) return;
    this.#ended = true;
    this.#leaveBoot();
    this.#loading.abort(error);
    this.channel.end(error);
    this.#worker.onerror = this.#worker.onmessageerror = null;
    this.#worker.terminate();
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

/**
 * @param {string | URL} url relative to the page
 * @param {AbortSignal} signal
 */
async function fetchModule(url, signal) {
  const address = new URL(url, globalThis.document?.baseURI).href;
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

/** Without query and fragment, which may hold secrets. */
function pageUrl() {
  const { location } = globalThis;
  return location ? location.origin + location.pathname : "";
}
