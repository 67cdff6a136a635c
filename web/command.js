// @ts-check
/**
 * One command from its call to its one end, whoever brings that: the worker, a cancel, a time limit, a dead channel.
 */

import { cancelled, fromWire } from "./errors.js";

/** @typedef {import("./errors.js").LangfxError} LangfxError */

/**
 * Who is told what comes for a command; exactly one of `result`, `end` and `error` comes, once.
 * @typedef {object} Receiver
 * @property {(value: any) => void} [accepted]
 * @property {(items: any[], bytes: number) => void} [items] may also come after `end`, until its count is reached;
 *   `bytes`: at least their size as JSON text, with their bytes
 * @property {(value: any) => void} [result]
 * @property {(value: any, count: number) => void} [end]
 * @property {(error: LangfxError) => void} error also follows `end` if items were still due when the worker went
 */

export class Command {
  /** 0 until it has left; ids are given in the order of leaving. */
  id = 0;
  ended = false;
  cancelled = false;
  #receiver;
  #clock;
  #over;
  #got = 0;
  #due = 0;
  #stopTimer = () => {};

  /**
   * @param {string} kind
   * @param {Receiver} receiver
   * @param {import("./clock.js").Clock} clock
   * @param {() => void} over called at its end, before the receiver
   */
  constructor(kind, receiver, clock, over) {
    /** @readonly */
    this.kind = kind;
    this.#receiver = receiver;
    this.#clock = clock;
    this.#over = over;
  }

  /** Whether nothing more is to come for it. */
  get isDone() {
    return this.ended && this.#got >= this.#due;
  }

  /** Takes a message of the worker. @param {any} message @param {number} bytes */
  receive({ kind, value, items, count, error }, bytes) {
    switch (kind) {
      case "accepted":
        return this.#receiver.accepted?.(value);
      case "items":
        this.#got += items.length;
        return this.#receiver.items?.(items, bytes);
      case "result":
        return this.succeed(value);
      case "end":
        return this.#end(() => this.#receiver.end?.(value, count), count);
      case "error":
        return this.fail(fromWire(error));
    }
  }

  /** @param {any} value */
  succeed(value) {
    this.#end(() => this.#receiver.result?.(value));
  }

  /** @param {LangfxError} error */
  fail(error) {
    this.#end(() => this.#receiver.error(error));
  }

  /** The worker is gone: also what was still due will not come. @param {LangfxError} failure */
  die(failure) {
    this.#end(() => {});
    this.#receiver.error(failure);
  }

  /** Fails as cancelled and unresponsive unless its end comes in time. @param {number} milliseconds */
  expectEnd(milliseconds) {
    this.#stopTimer = this.#clock.after(milliseconds, () => this.fail(cancelled({ unresponsive: true })));
  }

  /** @param {() => void} report @param {number} [due] items in all */
  #end(report, due = 0) {
    if (this.ended) return;
    this.ended = true;
    this.#due = due;
    this.#stopTimer();
    this.#over();
    report();
  }
}
