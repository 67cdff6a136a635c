// @ts-check
/**
 * Time, as the page needs it; a test turns its own.
 */

/**
 * `after` returns a function that stops the timer.
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
