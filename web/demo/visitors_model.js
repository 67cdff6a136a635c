// @ts-check
/** The visitor's own model, for both demo pages: Python is told which one, its key stays here. */

import { advised } from "./advice.js";
import { failureOf } from "./start.js";

/** @import { Langfx } from "../langfx-web.js" */
/** @import { Failure, Model } from "./start.js" */
/** @import { Wire } from "./providers.js" */

/** @typedef {{ wire: Wire, server: string, key: string }} Place Where models are, and the key for them; it may be empty. */
/** @typedef {{ id: string, name: string | null, context_window: number | null }} Listed */

/** The names under which Python asks for a key: of the model in use, and of a server that is only asked for its models. */
const IN_USE = "in use";
const LISTING = "listing";

export class VisitorsModel {
  /** Kept in this object and nowhere else, so that a reload forgets them. */
  #keys = new Map();
  /** @type {Model | null} */
  #model = null;
  #python;
  #used;

  /**
   * @param {object} page
   * @param {() => Langfx | null} page.python Null until it has started.
   * @param {(model: Model | null) => void} page.used Hears what is used from now on; null is the script.
   */
  constructor({ python, used }) {
    this.#python = python;
    this.#used = used;
  }

  /** What is in use; null is the script. */
  get model() {
    return this.#model;
  }

  /** @type {import("../langfx-web.js").CredentialsCallback} Over at once, so that Python asks anew each time. */
  credentials = async ({ provider }) => ({ apiKey: this.#keys.get(provider) ?? "", expiresAt: Date.now() });

  /**
   * The key for a place: what was typed, or the one in use for the same place.
   * @param {Place} place
   */
  keyFor({ wire, server, key }) {
    const same = this.#model?.wire === wire && this.#model.server === server;
    return key || (same && this.#keys.get(IN_USE)) || "";
  }

  /**
   * The models of a server, or why it tells of none.
   * @param {Place} place
   * @returns {Promise<{ models: Listed[] } | { failure: Failure }>}
   */
  async list(place) {
    const key = this.keyFor(place);
    this.#keys.set(LISTING, key);
    try {
      return { models: await this.#call("list_models", [place.wire, place.server, key && LISTING]) };
    } catch (error) {
      return { failure: advised(failureOf(error), { server: place.server, hasKey: key !== "", page: location.origin }) };
    } finally {
      this.#keys.delete(LISTING);
    }
  }

  /**
   * From now on this model answers; the key of any other is forgotten.
   * @param {Place} place
   * @param {string} id
   */
  async use(place, id) {
    const key = this.keyFor(place);
    const model = { wire: place.wire, server: place.server, id, hasKey: key !== "", page: location.origin };
    if (this.#python()) await this.#choose(model);
    this.#keys.set(IN_USE, key);
    this.#model = model;
    this.#used(model);
  }

  /** From now on the script answers, and no key is known any more. */
  useScript() {
    if (!this.#model) return;
    this.#keys.clear();
    this.#model = null;
    // Python that has stopped has nothing to forget.
    this.#call("forget", []).catch(() => {});
    this.#used(null);
  }

  /** Tells a Python that has just started what is in use. */
  async restore() {
    if (this.#model) await this.#choose(this.#model);
  }

  /** @param {Model} model */
  #choose({ wire, server, id, hasKey }) {
    return this.#call("choose", [wire, server, id, hasKey && IN_USE]);
  }

  /**
   * @param {string} name
   * @param {(string | false)[]} args An argument that is false or empty becomes None.
   * @returns {Promise<any>}
   */
  async #call(name, args) {
    const python = this.#python();
    if (!python) throw new Error("Python is still starting: try again in a moment.");
    return await python.call(`visitors_model:${name}`, args.map((arg) => arg || null));
  }
}
