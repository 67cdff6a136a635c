// @ts-check
/**
 * The page's end of the wire: one map of open commands behind one listener, and three verbs: ask, stream, cancel.
 */

import { LIMITS } from "../worker/protocol.js";
import { Answers } from "./answers.js";
import { bridgeClosed, cancelled, fromWire, LangfxError } from "./errors.js";
import { Inbox, Stream } from "./stream.js";
import { pack, unpack } from "./values.js";

/** @typedef {import("../worker/protocol.js").Post} Post */

/**
 * Anything that posts and listens: a worker, a port, a fake in a test.
 * @typedef {object} Endpoint
 * @property {(post: any, options: {transfer: ArrayBuffer[]}) => void} postMessage
 * @property {((event: {data: Post}) => void) | null} onmessage
 */

/**
 * Who is told what comes for a command; exactly one of `result`, `end` and `error` comes, once.
 * @typedef {object} Receiver
 * @property {(value: any) => void} [accepted]
 * @property {(items: any[], bytes: number) => void} [items] may also come after `end`, until its count is reached;
 *   `bytes`: at least their size as JSON text
 * @property {(value: any) => void} [result]
 * @property {(value: any, count: number) => void} [end]
 * @property {(error: LangfxError, dead: boolean) => void} error `dead`: nothing more can come from the worker
 */

/**
 * @typedef {object} OpenOptions
 * @property {boolean} [urgent] does not wait behind commands that read a Blob
 * @property {number} [within] milliseconds until the command is given up as `cancelled`, `unresponsive`
 */

/**
 * @typedef {object} Command
 * @property {() => void} cancel asks for the end; before the post it just drops the command
 * @property {() => boolean} isPosted
 * @property {(items: number, bytes: number) => void} credit tells the worker what was read
 */

/**
 * @typedef {object} Pending a command that the map holds
 * @property {number} id
 * @property {string} kind
 * @property {Receiver} receiver
 * @property {boolean} posted
 * @property {boolean} ended
 * @property {boolean} cancelled
 * @property {number} got items so far
 * @property {number} due items in all, once known
 * @property {() => void} stop the timer of a cancel
 */

/**
 * Time, as the channel needs it. `after` returns a function that stops the timer.
 * @typedef {{after(milliseconds: number, then: () => void): () => void, now(): number}} Clock
 */

/** @type {Clock} */
export const realClock = {
  after(milliseconds, then) {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};

export class Channel {
  #endpoint;
  #notice;
  #answers;
  #lastId = 0;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** Commands without an end; the map also holds ended ones whose items are still due. */
  #open = 0;
  /** Done once everything that waits for a Blob has left. @type {Promise<void> | undefined} */
  #held;
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
   * @param {Clock} [options.clock]
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
    const inbox = new Inbox((items, bytes) => command.credit(items, bytes));
    if (signal?.aborted) {
      inbox.fail(signal.reason);
      return new Stream(inbox, () => {});
    }
    const release = onAbort(signal, () => command.cancel());
    const command = this.open(message, {
      items: (items, bytes) => inbox.push(items, bytes),
      end: (_, count) => (release(), inbox.finish(count)),
      error: (error, dead) => (release(), inbox.fail(reasonOf(error, signal), dead)),
    });
    return new Stream(inbox, () => (release(), command.cancel()));
  }

  /**
   * Sends a command and reports what comes for it.
   * @param {{kind: string} & Record<string, any>} message
   * @param {Receiver} receiver
   * @param {OpenOptions} [options]
   * @returns {Command}
   */
  open(message, receiver, { urgent = false, within } = {}) {
    const id = ++this.#lastId;
    const { kind } = message;
    /** @type {Pending} */
    const pending = {
      id,
      kind,
      receiver,
      posted: false,
      ended: false,
      cancelled: false,
      got: 0,
      due: Infinity,
      stop: () => {},
    };
    this.#pending.set(id, pending);
    this.#open++;
    try {
      if (this.#failure) throw this.#failure;
      if (this.#open > LIMITS.commands) throw tooMany();
      this.#send(pending, pack({ ...message, id }), urgent);
      if (within) this.#limit(pending, within);
    } catch (error) {
      this.#end(pending, () => receiver.error(/** @type {LangfxError} */ (error), this.#failure === error));
    }
    return {
      cancel: () => this.#cancel(pending),
      isPosted: () => pending.posted,
      credit: (items, bytes) => {
        if (this.#pending.has(id)) this.#post(pack({ kind: "credit", id, items, bytes }));
      },
    };
  }

  /**
   * Ends everything that is open with `bridge_closed` and asks the worker to finish. Resolves once it has, or when
   * the wait is over.
   * @param {boolean} handoff
   * @returns {Promise<void>}
   */
  close(handoff) {
    if (this.#failure) return Promise.resolve();
    this.#post(pack({ kind: "close", handoff }));
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
    for (const pending of [...this.#pending.values()]) {
      this.#pending.delete(pending.id);
      this.#end(pending, () => pending.receiver.error(failure, true));
    }
  }

  /** @param {Post} post */
  #receive(post) {
    // The whole text counts for each: credit above what the worker counted is harmless, less would stop a stream.
    for (const message of unpack(post)) this.#handle(message, post.text.length);
  }

  /** @param {any} message @param {number} bytes */
  #handle(message, bytes) {
    if (message.kind === "closed") return this.#closed();
    if (this.#failure) return;
    switch (message.kind) {
      case "tool_call":
      case "tool_cancel":
      case "credential_request":
        return this.#answers.handle(message);
      case "ready":
        for (const pending of this.#pending.values()) {
          if (pending.kind === "setup") this.#end(pending, () => pending.receiver.result?.(message));
        }
        return;
    }
    const pending = this.#pending.get(message.id);
    if (pending) this.#settle(pending, message, bytes);
    else if (message.id === undefined) this.#notice(message);
  }

  /** @param {Pending} pending @param {any} message @param {number} bytes */
  #settle(pending, { kind, value, items, count, error }, bytes) {
    const { receiver } = pending;
    switch (kind) {
      case "accepted":
        return receiver.accepted?.(value);
      case "items":
        pending.got += items.length;
        receiver.items?.(items, bytes);
        if (pending.got >= pending.due) this.#pending.delete(pending.id);
        return;
      case "result":
        return this.#end(pending, () => receiver.result?.(value));
      case "end":
        return this.#end(pending, () => receiver.end?.(value, count), count);
      case "error":
        return this.#end(pending, () => receiver.error(fromWire(error), false));
    }
  }

  /**
   * The one end of a pending. It stays in the map while items are due.
   * @param {Pending} pending
   * @param {() => void} report
   * @param {number} [due]
   */
  #end(pending, report, due = 0) {
    if (pending.ended) return;
    pending.ended = true;
    pending.due = due;
    pending.stop();
    this.#open--;
    if (pending.got >= due) this.#pending.delete(pending.id);
    report();
  }

  /** @param {Pending} pending */
  #cancel(pending) {
    if (pending.ended) this.#pending.delete(pending.id);
    if (pending.ended || pending.cancelled) return;
    pending.cancelled = true;
    if (!pending.posted) return this.#end(pending, () => pending.receiver.error(cancelled(), false));
    this.#post(pack({ kind: "cancel", id: pending.id }));
    this.#limit(pending, LIMITS.cancel);
  }

  /** @param {Pending} pending @param {number} milliseconds until it is given up */
  #limit(pending, milliseconds) {
    pending.stop = this.clock.after(milliseconds, () => {
      this.#end(pending, () => pending.receiver.error(cancelled({ unresponsive: true }), false));
    });
  }

  /**
   * Commands leave in the order of their calls; one that must read a Blob holds those behind it.
   * @param {Pending} pending
   * @param {import("./values.js").Packed} packed
   * @param {boolean} urgent
   */
  #send(pending, packed, urgent) {
    const leave = () => {
      if (pending.ended) return;
      pending.posted = true;
      this.#post(packed);
    };
    if (!packed.reading && (urgent || !this.#held)) return leave();
    const held = this.#leaveLater(pending, packed.reading, leave).then(() => {
      if (this.#held === held) this.#held = undefined;
    });
    this.#held = held;
  }

  /**
   * @param {Pending} pending
   * @param {Promise<unknown> | undefined} reading
   * @param {() => void} leave
   */
  async #leaveLater(pending, reading, leave) {
    await this.#held;
    try {
      await reading;
      leave();
    } catch (error) {
      this.#end(pending, () => pending.receiver.error(/** @type {LangfxError} */ (error), false));
    }
  }

  /** @param {import("./values.js").Packed} packed */
  #post({ text, blobs }) {
    if (!this.#failure) this.#endpoint.postMessage({ text, blobs }, { transfer: blobs });
  }
}

/**
 * Calls `abort` when the signal aborts. Returns the function that removes the listener, once.
 * @param {AbortSignal | undefined} signal
 * @param {() => void} abort
 */
export function onAbort(signal, abort) {
  let listening = signal;
  listening?.addEventListener("abort", abort, { once: true });
  return () => {
    listening?.removeEventListener("abort", abort);
    listening = undefined;
  };
}

function tooMany() {
  const text = `More than ${LIMITS.commands} commands are pending.`;
  return new LangfxError("BridgeError", "too_many_commands", text, { retryable: true });
}

/** @param {LangfxError} error @param {AbortSignal | undefined} signal */
function reasonOf(error, signal) {
  return signal?.aborted && error.code === "cancelled" && !error.details.unresponsive ? signal.reason : error;
}
