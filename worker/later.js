// @ts-check
/**
 * Packs that the start does not need: asked for on their own, written to Python's file system when they are wanted.
 */

import { toWire } from "./download.js";
import { entriesOf, unzipped } from "./pack.js";

/** @typedef {import("./files.js").Files} Files */

/** One set of packs, written once; after a failure the next wish tries again. */
export class LaterSet {
  /** @type {Files | undefined} */
  #packs;
  /** @type {Promise<string> | undefined} */
  #outcome;
  #request;
  #install;

  /**
   * @param {() => Files} request starts the downloads
   * @param {(files: Iterable<[path: string, bytes: Uint8Array]>) => void} install puts files beside Python's packages
   */
  constructor(request, install) {
    this.#request = request;
    this.#install = install;
  }

  /** Starts the download, if that has not been done. */
  prefetch() {
    return (this.#packs ??= this.#request());
  }

  /** Resolves to "" once the files are there, or to the JSON text of a wire error. Never rejects. */
  load() {
    return (this.#outcome ??= this.#attempt());
  }

  async #attempt() {
    try {
      for (const pack of await Promise.all(this.prefetch().values())) this.#install(entriesOf(await unzipped(pack)));
      return "";
    } catch (error) {
      this.#packs = this.#outcome = undefined;
      return JSON.stringify(toWire(error));
    }
  }
}
