// @ts-check
/**
 * A turn: a view of one prompt and all that is done to answer it.
 */

import { LIMITS } from "../worker/protocol.js";
import { onAbort } from "./channel.js";
import { cancelled } from "./errors.js";
import { END, Inbox, ndjson } from "./stream.js";

/** Lines that `for await` does not show; `readable` and `session.stream()` do. */
const HIDDEN = new Set(["turn_start", "turn_resume", "turn_yield", "turn_end", "lines_pruned"]);

export class Turn {
  #clock;
  #inbox = new Inbox((items, bytes) => this.#command?.credit(items, bytes), { keep: true });
  /** @type {import("./channel.js").Command | undefined} */
  #command;
  #accepted = settler();
  #result = settler();
  /** @type {(() => void) | undefined} */
  #stopWaiting;
  /** @type {() => void} */
  #release = () => {};

  /**
   * Posts the prompt at once, unless `signal` is aborted already.
   * @param {import("./channel.js").Channel} channel
   * @param {{kind: "session_prompt", messageId: string} & Record<string, any>} message
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {() => void} options.cancel asks the worker to cancel this turn
   */
  constructor(channel, message, { signal, cancel }) {
    this.#clock = channel.clock;
    this.messageId = message.messageId;
    this.accepted = this.#accepted.promise;
    this.result = this.#result.promise;
    if (signal?.aborted) {
      this.#drop(signal.reason);
      return;
    }
    this.#release = onAbort(signal, () => (this.#command?.isPosted() ? cancel() : this.#command?.cancel()));
    this.#command = channel.open(message, {
      accepted: (value) => this.#accepted.resolve(value),
      items: (items, bytes) => this.#inbox.push(items, bytes),
      end: (result, count) => this.#finish(result, count),
      error: (error, dead) => {
        if (signal?.aborted && error.code === "cancelled") this.#drop(signal.reason);
        else this.#fail(error, dead);
      },
    });
  }

  /** The turn's events from its first one, for any number of readers. Leaving only stops reading. */
  async *[Symbol.asyncIterator]() {
    for await (const line of this.#lines()) {
      if (!HIDDEN.has(line.type)) yield line;
    }
  }

  /** All stored lines of the turn as NDJSON bytes; each access starts at the first line. */
  get readable() {
    return ndjson(this.#lines());
  }

  /** After a cancel the end must come soon; else the turn is given up. */
  expectEnd() {
    this.#stopWaiting ??= this.#clock.after(LIMITS.cancel, () => this.giveUp());
  }

  /** Settles the turn as cancelled, though the worker has not said so. */
  giveUp() {
    const error = cancelled({ unresponsive: true });
    const { name, message, code, retryable, details } = error;
    this.#accepted.reject(error);
    this.#finish(this.#cancelledResult({ name, message, code, retryable, details }), this.#inbox.received);
  }

  async *#lines() {
    for (let position = 0; ; position++) {
      const line = await this.#inbox.at(position);
      if (line === END) return;
      yield line;
    }
  }

  /** Nothing was stored and nothing will be. @param {any} reason */
  #drop(reason) {
    this.#accepted.reject(reason);
    this.#finish(this.#cancelledResult(null), 0);
  }

  /** @param {object | null} error */
  #cancelledResult(error) {
    return { messageId: this.messageId, stopReason: "cancelled", usage: null, error, epoch: 0, repeated: false };
  }

  /** @param {any} result @param {number} count */
  #finish(result, count) {
    this.#settled();
    this.#result.resolve(result);
    this.#inbox.finish(count);
  }

  /** @param {Error} error @param {boolean} dead */
  #fail(error, dead) {
    this.#settled();
    this.#accepted.reject(error);
    this.#result.reject(error);
    this.#inbox.fail(error, dead);
  }

  #settled() {
    this.#release();
    this.#stopWaiting?.();
  }
}

/** A promise with its handles, which may fail unseen. */
function settler() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((...handles) => ([resolve, reject] = handles));
  promise.catch(() => {});
  return { promise, resolve, reject };
}
