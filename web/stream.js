// @ts-check
/**
 * Items of one command, read at the reader's pace: what is unread stays under the window that credit opens.
 */

import { LIMITS } from "../worker/protocol.js";

/** Returned by `Inbox.at` behind the last item. */
export const END = Symbol("end");

/** Keeps the items of one command and returns credit for those that were read. */
export class Inbox {
  /** @type {{item: any, bytes: number}[]} */
  #kept = [];
  /** Position of the first kept item. */
  #first = 0;
  /** Positions below this one were read. */
  #read = 0;
  #due = Infinity;
  /** @type {Error | undefined} */
  #failure;
  #unreported = { items: 0, bytes: 0 };
  /** @type {(() => void)[]} */
  #waiting = [];
  #credit;
  #dead;
  #keep;

  /**
   * @param {object} options
   * @param {(items: number, bytes: number) => void} options.credit
   * @param {() => Error | undefined} options.dead what readers get, whatever there is, once the channel has failed
   * @param {boolean} [options.keep] items stay after they were read, for further readers
   */
  constructor({ credit, dead, keep = false }) {
    this.#credit = credit;
    this.#dead = dead;
    this.#keep = keep;
  }

  /** @param {any[]} items @param {number} bytes at least their size as JSON text */
  push(items, bytes) {
    for (const item of items) this.#kept.push({ item, bytes: bytes / items.length });
    this.#wake();
  }

  /** How many items have come. */
  get received() {
    return this.#first + this.#kept.length;
  }

  /** The newest item, if it is still kept. */
  get last() {
    return this.#kept.at(-1)?.item;
  }

  /** @param {number} due items in all; some of them may still come */
  finish(due) {
    this.#due = due;
    this.#wake();
  }

  /** @param {Error} failure what readers get behind the items that are there */
  fail(failure) {
    this.#failure ??= failure;
    this.#wake();
  }

  /**
   * The item at a position, or `END`. Waits for it.
   * @param {number} position
   * @returns {Promise<any>}
   */
  async at(position) {
    for (;;) {
      const dead = this.#dead();
      if (dead) throw dead;
      const entry = this.#kept[position - this.#first];
      if (entry) return this.#take(position, entry);
      if (position >= this.#due) return END;
      if (this.#failure) throw this.#failure;
      await new Promise((resolve) => this.#waiting.push(() => resolve(undefined)));
    }
  }

  /** @param {number} position @param {{item: any, bytes: number}} entry */
  #take(position, { item, bytes }) {
    if (position < this.#read) return item;
    this.#read = position + 1;
    if (!this.#keep) {
      this.#kept.shift();
      this.#first++;
    }
    const unreported = this.#unreported;
    unreported.items++;
    unreported.bytes += bytes;
    if (unreported.items >= LIMITS.windowItems / 2 || unreported.bytes >= LIMITS.windowBytes / 2) {
      this.#unreported = { items: 0, bytes: 0 };
      this.#credit(unreported.items, Math.ceil(unreported.bytes));
    }
    return item;
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/**
 * What a streaming command gives: an async iterator with one reader. Leaving it cancels the command.
 * @implements {AsyncIterableIterator<any>}
 */
export class Stream {
  #inbox;
  #leave;
  #position = 0;
  #left = false;

  /** @param {Inbox} inbox @param {() => void} leave */
  constructor(inbox, leave) {
    this.#inbox = inbox;
    this.#leave = leave;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @returns {Promise<IteratorResult<any, undefined>>} */
  async next() {
    if (this.#left) return { done: true, value: undefined };
    const item = await this.#inbox.at(this.#position++);
    return item === END ? this.return() : { done: false, value: item };
  }

  /** @returns {Promise<IteratorReturnResult<undefined>>} */
  async return() {
    if (!this.#left) this.#leave();
    this.#left = true;
    this.#inbox.finish(0);
    return { done: true, value: undefined };
  }

  /** The items as NDJSON bytes; reads like the iterator does. */
  get readable() {
    return ndjson(this);
  }
}

/**
 * One line of JSON per item, in UTF-8; large integers become decimal text.
 * @param {AsyncIterator<any>} items
 */
export function ndjson(items) {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await items.next();
        if (done) return controller.close();
        controller.enqueue(encoder.encode(`${JSON.stringify(value, plainJson)}\n`));
      },
      cancel() {
        items.return?.().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

/** @param {string} _ @param {any} value */
function plainJson(_, value) {
  return typeof value === "bigint" ? String(value) : value;
}
