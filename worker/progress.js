// @ts-check
/**
 * What the page is told about the start: phases, and the bytes of the boot set.
 */

import { isScript } from "./files.js";

/** @typedef {import("./protocol.js").Manifest} Manifest */

/** Bytes between two posts about progress. */
const PROGRESS_STEP = 128 * 1024;

/** Counts the bytes of the boot set; scripts are there already, since they do the counting. */
export class Progress {
  #phase = "download";
  #total = 0;
  #posted = 0;
  /** @type {Map<string, number>} */
  #sizes = new Map();
  /** @type {Map<string, number>} */
  #received = new Map();
  #tell;

  /**
   * @param {Manifest} manifest
   * @param {(message: object) => void} tell
   */
  constructor({ files }, tell) {
    this.#tell = tell;
    for (const [file, { set, size }] of Object.entries(files)) {
      if (set !== "boot") continue;
      this.#total += size;
      this.#sizes.set(file, size);
      if (isScript(file)) this.#received.set(file, size);
    }
    this.#post();
  }

  /**
   * @param {string} file
   * @param {number} bytes a retry counts again from 0, the sum does not go back; a pack that the host unpacked has more
   */
  received(file, bytes) {
    const size = this.#sizes.get(file);
    // A file that nobody knows the size of is a sign of life only.
    if (size === undefined) return this.#post();
    this.#received.set(file, Math.min(size, Math.max(bytes, this.#received.get(file) ?? 0)));
    if (this.#loaded - this.#posted >= PROGRESS_STEP) this.#post();
  }

  /** Counts one more file. @param {string} file @param {number} size */
  expect(file, size) {
    if (!this.#sizes.has(file)) this.#total += size;
    this.#sizes.set(file, size);
  }

  /** @param {string} phase */
  enter(phase) {
    this.#phase = phase;
    this.#post();
  }

  get #loaded() {
    let sum = 0;
    for (const bytes of this.#received.values()) sum += bytes;
    return sum;
  }

  #post() {
    this.#posted = this.#loaded;
    this.#tell({ kind: "progress", phase: this.#phase, loaded: this.#posted, total: this.#total });
  }
}
