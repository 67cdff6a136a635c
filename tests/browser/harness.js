// @ts-check
/** What the tests drive in the page: `connect` with a few page tools, and turns whose events are kept with their times. */

import { connect } from "/langfx-web.js";

/** Keeps what each worker posts, and the newest worker itself, so that a test can count and meddle. */
class WatchedWorker extends Worker {
  constructor(/** @type {any} */ url, /** @type {any} */ options) {
    super(url, options);
    harness.worker = this;
    this.addEventListener("message", ({ data }) => harness.posts.push(data.text));
  }

  postMessage(/** @type {any} */ post, /** @type {any} */ options) {
    super.postMessage(post.text ? { ...post, text: harness.alter(post.text) } : post, options);
  }
}
globalThis.Worker = WatchedWorker;

const noInput = { type: "object", properties: {}, additionalProperties: false };

/** @type {Record<string, any>} */
const tools = {
  paint: {
    description: "Colour the page.",
    inputSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
    idempotent: true,
    execute: (/** @type {any} */ { colour }) => {
      document.body.dataset["colour"] = colour;
      return `painted ${colour}`;
    },
  },
  refuse: {
    description: "Throw.",
    inputSchema: noInput,
    idempotent: true,
    execute: () => {
      throw new Error("the page will not");
    },
  },
  dally: {
    description: "Answer late.",
    inputSchema: noInput,
    idempotent: true,
    timeout: 0.5,
    execute: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      document.body.dataset["dallied"] = "yes";
      return "a late answer";
    },
  },
  ignore: {
    description: "Never answer.",
    inputSchema: noInput,
    idempotent: true,
    timeout: 1,
    execute: (/** @type {any} */ _, /** @type {any} */ { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => (document.body.dataset["ignored"] = "aborted"))),
  },
};

/** @type {any} */
const harness = {
  langfx: null,
  logs: [],
  progress: [],
  diagnostics: [],
  credential: null,
  turns: {},
  sessions: {},
  worker: null,
  posts: [],
  /** Changes each text for the worker. */
  alter: (/** @type {string} */ text) => text,

  /**
   * With `quiet`, the milliseconds without work before a memory snapshot is made; else none is made or used, since that
   * takes a second worker, at a time that a test cannot know.
   */
  async connect(/** @type {any} */ options = {}, /** @type {number | undefined} */ quiet = undefined) {
    const open = quiet === undefined ? connect : await harness.connectQuietly(quiet);
    harness.langfx = await open({
      tools,
      store: "memory",
      snapshot: quiet !== undefined,
      credentials: async () => harness.credential,
      onProgress: (progress) => harness.progress.push(progress),
      onLog: (entry) => harness.logs.push(entry),
      onEvent: (event) => harness.diagnostics.push(event),
      ...options,
    });
    return harness.langfx.version;
  },

  /** `connect` as a test of the page's own sees it. */
  async connectQuietly(/** @type {number} */ quiet) {
    const { connectTo } = await harness.module("web/connect.js");
    const { manifest } = await harness.module("web/manifest.js");
    return (/** @type {any} */ options) => connectTo(options, { manifest, quiet });
  },

  /** A module of the runtime folder. */
  async module(/** @type {string} */ path) {
    const { runtime } = await (await fetch("/manifest.json")).json();
    return import(`/${runtime}/${path}`);
  },

  /** Starts a turn under a name; sessions are kept by name, too. */
  start(/** @type {string} */ name, /** @type {string} */ agent, /** @type {any} */ input, /** @type {string} */ session) {
    const turn = (harness.sessions[session] ??= harness.langfx.agent(agent).session()).prompt(input);
    const kept = (harness.turns[name] = { turn, events: /** @type {any[]} */ ([]), outcome: /** @type {any} */ (null) });
    kept.outcome = harness.attempt(async () => {
      for await (const event of turn) kept.events.push({ ...event, at: Date.now() / 1000 });
      return { events: kept.events, result: await turn.result };
    });
  },

  /** Posts messages to the worker as they are. */
  tell(/** @type {any[]} */ ...messages) {
    harness.worker.postMessage({ text: JSON.stringify(messages), blobs: [] });
  },

  /** Everything of one kind that the worker has said since a mark. */
  said(/** @type {string} */ kind, /** @type {number} */ since = 0) {
    const messages = harness.posts.slice(since).flatMap((/** @type {string} */ text) => JSON.parse(text));
    return messages.filter((/** @type {any} */ message) => message.kind === kind);
  },

  /** A value as JavaScript has it, in a spelling that tells its kinds apart. */
  show(/** @type {any} */ value) {
    if (typeof value === "bigint") return `${value}n`;
    if (value instanceof Uint8Array) return `bytes ${value.join(" ")}`.trim();
    if (Array.isArray(value)) return `[${value.map(harness.show).join(", ")}]`;
    if (value === null || typeof value !== "object") return value === undefined ? "undefined" : JSON.stringify(value);
    const fields = Object.entries(value).map(([key, item]) => `${key}: ${harness.show(item)}`);
    return `${Object.getPrototypeOf(value) === Object.prototype ? "" : "strange "}{${fields.join(", ")}}`;
  },

  /** Resolves once a condition holds. */
  async until(/** @type {() => any} */ holds) {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
  },

  /** Resolves to the time at which the cancel was asked for. */
  async cancel(/** @type {string} */ session) {
    const at = Date.now() / 1000;
    return { at, outcome: await harness.sessions[session].cancel() };
  },

  /** A value or an error, in a form that leaves the page. */
  async attempt(/** @type {() => any} */ work) {
    try {
      return { value: (await work()) ?? null };
    } catch (error) {
      const { name, code, message, retryable, details } = /** @type {any} */ (error);
      return { error: { name, code, message, retryable, details } };
    }
  },
};

Object.assign(globalThis, { harness });
