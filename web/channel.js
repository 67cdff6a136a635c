// @ts-check
/**
 * The page's end of the wire: the open commands behind one listener, and three verbs: ask, stream, cancel.
 */

import { LIMITS } from "../worker/protocol.js";
import { onAbort, reasonOf } from "./abort.js";
import { Answers } from "./answers.js";
import { realClock } from "./clock.js";
import { Command } from "./command.js";
import { Departures } from "./departures.js";
import { bridgeClosed, cancelled, LangfxError } from "./errors.js";
import { Inbox, Stream } from "./stream.js";
import { addressed, pack, unpack } from "./values.js";

/** @typedef {import("../worker/protocol.js").Post} Post */
/** @typedef {import("./command.js").Receiver} Receiver */

/**
 * Anything that posts and listens: a worker, a port, a fake in a test.
 * @typedef {object} Endpoint
 * @property {(post: any, options: {transfer: ArrayBuffer[]}) => void} postMessage
 * @property {((event: {data: Post}) => void) | null} onmessage
 */

/**
 * @typedef {object} OpenOptions
 * @property {boolean} [urgent] does not wait behind commands that read a Blob
 * @property {number} [within] milliseconds until the command is given up as `cancelled`, `unresponsive`
 */

/**
 * What whoever opened a command can do with it.
 * @typedef {object} Handle
 * @property {() => void} cancel asks for the end; before the post it just drops the command, after the end the rest
 * @property {() => boolean} isPosted
 * @property {(items: number, bytes: number) => void} credit tells the worker what was read
 */

export class Channel {
  #endpoint;
  #notice;
  #answers;
  #departures = new Departures();
  #lastId = 0;
  /** Commands without an end. @type {Set<Command>} */
  #open = new Set();
  /** Those that have left and for which something may come, ended or not. @type {Map<number, Command>} */
  #posted = new Map();
  /** What every further command fails with. @type {LangfxError | undefined} */
  #failure;
  /** @type {() => void} */
  #closed = () => {};

  /**
   * @param {Endpoint} endpoint
   * @param {object} options
   * @param {Record<string, import("./langfx-web.d.ts").PageTool>} [options.tools]
   * @param {import("./langfx-web.d.ts").CredentialsCallback} [options.credentials]
   * @param {(message: any) => void} [options.notice] gets messages without an id: progress, log, fatal, diagnostic
   * @param {import("./clock.js").Clock} [options.clock]
   */
  constructor(endpoint, { tools = {}, credentials, notice = () => {}, clock = realClock }) {
    this.#endpoint = endpoint;
    /** @readonly */
    this.clock = clock;
    this.#notice = notice;
    this.#answers = new Answers({ tools, credentials, clock, post: (packed) => this.#post(packed) });
    endpoint.onmessage = ({ data }) => this.#receive(data);
  }

  /**
   * Sends a command and resolves to its result. If `signal` cancelled it, the rejection is `signal.reason`.
   * @param {{kind: string} & Record<string, any>} message
   * @param {{signal?: AbortSignal} & OpenOptions} [options]
   * @returns {Promise<any>}
   */
  ask(message, { signal, ...options } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const release = onAbort(signal, () => command.cancel());
      /** @type {Receiver} */
      const receiver = {
        result: (value) => (release(), resolve(value)),
        error: (error) => (release(), reject(reasonOf(error, signal))),
      };
      const command = this.open(message, receiver, options);
    });
  }

  /**
   * Sends a command whose items are read by iterating. Failures of any kind are thrown to the reader.
   * @param {{kind: string} & Record<string, any>} message
   * @param {{signal?: AbortSignal}} [options]
   */
  stream(message, { signal } = {}) {
    const inbox = new Inbox({ credit: (items, bytes) => command.credit(items, bytes), dead: () => this.#failure });
    if (signal?.aborted) {
      inbox.fail(signal.reason);
      return new Stream(inbox, () => {});
    }
    const release = onAbort(signal, () => command.cancel());
    const command = this.open(message, {
      items: (items, bytes) => inbox.push(items, bytes),
      end: (_, count) => (release(), inbox.finish(count)),
      error: (error) => (release(), inbox.fail(reasonOf(error, signal))),
    });
    return new Stream(inbox, () => (release(), command.cancel()));
  }

  /**
   * Sends a command and reports what comes for it.
   * @param {{kind: string} & Record<string, any>} message
   * @param {Receiver} receiver
   * @param {OpenOptions} [options]
   * @returns {Handle}
   */
  open(message, receiver, { urgent = false, within } = {}) {
    const command = new Command(message.kind, receiver, this.clock, () => this.#over(command));
    this.#open.add(command);
    try {
      if (this.#failure) throw this.#failure;
      if (this.#open.size > LIMITS.commands) throw tooMany();
      this.#send(command, pack(message), urgent);
      if (within) command.expectEnd(within);
    } catch (error) {
      command.fail(/** @type {LangfxError} */ (error));
    }
    return {
      cancel: () => this.#cancel(command),
      isPosted: () => command.id > 0,
      credit: (items, bytes) => {
        if (this.#posted.has(command.id)) this.#tell({ kind: "credit", id: command.id, items, bytes });
      },
    };
  }

  /** Whether no command is open. */
  get isIdle() {
    return this.#open.size === 0;
  }

  /** Why nothing works any more, if so. */
  get failure() {
    return this.#failure;
  }

  /**
   * Ends everything that is open with `bridge_closed` and asks the worker to finish. Resolves once it has, or when
   * the wait is over.
   * @param {boolean} handoff
   * @returns {Promise<void>}
   */
  close(handoff) {
    if (this.#failure) return Promise.resolve();
    this.#tell({ kind: "close", handoff });
    this.#fail(bridgeClosed());
    return new Promise((resolve) => {
      const stop = this.clock.after(handoff ? LIMITS.handoff : LIMITS.close, resolve);
      this.#closed = () => (stop(), resolve());
    });
  }

  /** Ends everything that is open and all that is tried later. @param {LangfxError} failure */
  end(failure) {
    this.#fail(failure);
    this.#endpoint.onmessage = null;
    this.#closed();
  }

  /** @param {LangfxError} failure */
  #fail(failure) {
    if (this.#failure) return;
    this.#failure = failure;
    this.#answers.end(failure);
    const commands = new Set([...this.#open, ...this.#posted.values()]);
    this.#posted.clear();
    for (const command of commands) command.die(failure);
  }

  /** @param {Post} post */
  #receive(post) {
    // The whole post counts for each: credit above what the worker counted is harmless, less would stop a stream.
    const size = post.blobs.reduce((sum, { byteLength }) => sum + byteLength, post.text.length);
    for (const message of unpack(post)) this.#handle(message, size);
  }

  /** @param {any} message @param {number} size */
  #handle(message, size) {
    if (message.kind === "closed") return this.#closed();
    if (this.#failure) return;
    switch (message.kind) {
      case "tool_call":
      case "tool_cancel":
      case "credential_request":
        return this.#answers.handle(message);
      case "ready":
        for (const command of this.#open) if (command.kind === "setup") command.succeed(message);
        return;
    }
    const command = this.#posted.get(message.id);
    if (command) {
      command.receive(message, size);
      this.#forget(command);
    } else if (message.id === undefined) this.#notice(message);
  }

  /** @param {Command} command that has its end */
  #over(command) {
    this.#open.delete(command);
    this.#forget(command);
  }

  /** @param {Command} command */
  #forget(command) {
    if (command.isDone) this.#posted.delete(command.id);
  }

  /** @param {Command} command */
  #cancel(command) {
    if (command.ended ? !this.#posted.delete(command.id) : command.cancelled) return;
    command.cancelled = true;
    if (!command.id) return command.fail(cancelled());
    this.#tell({ kind: "cancel", id: command.id });
    if (!command.ended) command.expectEnd(LIMITS.cancel);
  }

  /**
   * @param {Command} command
   * @param {import("./values.js").Packed} packed
   * @param {boolean} urgent
   */
  #send(command, packed, urgent) {
    const leave = () => {
      if (command.ended) return;
      command.id = ++this.#lastId;
      this.#posted.set(command.id, command);
      this.#post(addressed(packed, command.id));
    };
    this.#departures.add({ reading: packed.reading, leave, fail: (error) => command.fail(error) }, urgent);
  }

  /** @param {object} message */
  #tell(message) {
    this.#post(pack(message));
  }

  /** @param {import("./values.js").Packed} packed */
  #post({ text, blobs }) {
    if (!this.#failure) this.#endpoint.postMessage({ text, blobs }, { transfer: blobs });
  }
}

function tooMany() {
  const text = `More than ${LIMITS.commands} commands are pending.`;
  return new LangfxError("BridgeError", "too_many_commands", text, { retryable: true });
}
