// @ts-check
/**
 * The order in which commands leave: that of their calls, though one that reads a Blob takes a while.
 */

/**
 * @typedef {object} Departure
 * @property {Promise<unknown> | undefined} reading done once its Blobs are read
 * @property {() => void} leave
 * @property {(error: any) => void} fail called instead, if a Blob cannot be read
 */

export class Departures {
  /** Done once everything that waits has left. @type {Promise<void> | undefined} */
  #waiting;

  /**
   * Lets a command leave at once if it can, else behind those before it.
   * @param {Departure} departure
   * @param {boolean} urgent whether it may leave before those that wait
   */
  add(departure, urgent) {
    if (!departure.reading && (urgent || !this.#waiting)) return departure.leave();
    const waiting = this.#afterOthers(departure).then(() => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    this.#waiting = waiting;
  }

  /** @param {Departure} departure */
  async #afterOthers({ reading, leave, fail }) {
    await this.#waiting;
    try {
      await reading;
    } catch (error) {
      return fail(error);
    }
    leave();
  }
}
