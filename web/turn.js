// @ts-check
/**
 * A turn: a view of one prompt and all that is done to answer it.
 */

import { LIMITS } from "../worker/protocol.js";
import { onAbort, reasonOf } from "./abort.js";
import { cancelled } from "./errors.js";
import { END, Inbox, ndjson } from "./stream.js";

/** Lines that `for await` does not show; `readable` and `session.stream()` do. */
const HIDDEN = new Set(["turn_start", "turn_resume", "turn_yield", "turn_end", "lines_pruned"]);

export class Turn {
  #channel;
  #prompt;
  #inbox;
  /** What lines come by: the prompt itself, or a later look at the conversation. @type {Handle | undefined} */
  #source;
  #readers = 0;
  /** Lines in all, once the turn has ended. @type {number | undefined} */
  #count;
  #accepted = settler();
  #result = settler();
  /** @type {(() => void) | undefined} */
  #stopWaiting;
  /** @type {() => void} */
  #release = () => {};

  /** @typedef {import("./channel.js").Handle} Handle */

  /**
   * Posts the prompt at once, unless `signal` is aborted already.
   * @param {import("./channel.js").Channel} channel
   * @param {{kind: "session_prompt", agent: string, session: string, messageId: string} & Record<string, any>} prompt
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {() => void} options.cancel asks the worker to cancel this turn
   */
  constructor(channel, prompt, { signal, cancel }) {
    this.#channel = channel;
    this.#prompt = prompt;
    this.#inbox = new Inbox({
      credit: (items, bytes) => this.#source?.credit(items, bytes),
      dead: () => channel.failure,
      keep: true,
    });
    this.messageId = prompt.messageId;
    this.accepted = this.#accepted.promise;
    this.result = this.#result.promise;
    if (signal?.aborted) {
      this.#drop(signal.reason);
      return;
    }
    this.#release = onAbort(signal, () => (this.#source?.isPosted() ? cancel() : this.#source?.cancel()));
    this.#source = channel.open(prompt, {
      accepted: (value) => this.#accepted.resolve(value),
      items: (items, bytes) => this.#inbox.push(items, bytes),
      end: (result, count) => this.#finish(result, count),
      error: (error) => {
        if (error.code === "cancelled") this.#drop(reasonOf(error, signal));
        else this.#fail(error);
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
    this.#stopWaiting ??= this.#channel.clock.after(LIMITS.cancel, () => this.giveUp());
  }

  /** Settles the turn as cancelled, though the worker has not said so. */
  giveUp() {
    const error = cancelled({ unresponsive: true });
    const { name, message, code, retryable, details } = error;
    this.#accepted.reject(error);
    this.#finish(this.#cancelledResult({ name, message, code, retryable, details }), this.#inbox.received);
  }

  async *#lines() {
    this.#readers++;
    try {
      for (let position = 0; ; position++) {
        if (position >= this.#inbox.received) this.#reopen();
        const line = await this.#inbox.at(position);
        if (line === END) return;
        yield line;
      }
    } finally {
      this.#readers--;
      this.#letGo();
    }
  }

  /** Whether the turn has ended and lines of it are still with the worker. */
  get #isBehind() {
    return this.#count !== undefined && this.#inbox.received < this.#count;
  }

  /** Lines that nobody reads stay where they are stored: neither end keeps anything ready for them. */
  #letGo() {
    if (this.#readers || !this.#isBehind) return;
    this.#source?.cancel();
    this.#source = undefined;
  }

  /** Reads on from the conversation, if the lines were let go of. */
  #reopen() {
    if (this.#source || !this.#isBehind) return;
    const { agent, session } = this.#prompt;
    const message = { kind: "session_stream", agent, session, cursor: this.#inbox.last?.cursor ?? 0 };
    const source = this.#channel.open(message, {
      items: (lines, bytes) => this.#source === source && this.#takeOwn(lines, bytes),
      error: (error) => error.code === "cancelled" || this.#inbox.fail(error),
    });
    this.#source = source;
  }

  /** Takes those lines of the conversation that are of this turn. @param {any[]} lines @param {number} bytes */
  #takeOwn(lines, bytes) {
    const own = lines.filter(({ messageId }) => messageId === this.messageId);
    if (own.length) this.#inbox.push(own, bytes);
    if (own.length < lines.length) this.#source?.credit(lines.length - own.length, 0);
    if (!this.#isBehind) this.#source?.cancel();
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
    if (this.#count !== undefined) return;
    this.#count = count;
    this.#settled();
    this.#result.resolve(result);
    this.#inbox.finish(count);
    this.#letGo();
  }

  /** @param {Error} error */
  #fail(error) {
    this.#settled();
    this.#accepted.reject(error);
    this.#result.reject(error);
    this.#inbox.fail(error);
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
