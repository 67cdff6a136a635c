// @ts-check
/**
 * Agents and their stored conversations, as the page sees them.
 */

import { LIMITS } from "../worker/protocol.js";
import { LangfxError } from "./errors.js";
import { Turn } from "./turn.js";

const ID = /^(?!\.\.?$)[\w.-]{1,128}$/;

export class Agent {
  #channel;

  /** @param {import("./channel.js").Channel} channel @param {string} name */
  constructor(channel, name) {
    this.#channel = channel;
    this.name = name;
  }

  /**
   * @param {string} [id] of a conversation; without it a new one
   * @param {import("./langfx-web.d.ts").SessionOptions} [options] for the turns that this object starts
   */
  session(id, options) {
    if (id !== undefined && !(typeof id === "string" && ID.test(id))) {
      throw invalidValue("invalid_session_id", `No session id: ${JSON.stringify(id)}.`);
    }
    return new Session(this.#channel, this.name, id, options);
  }
}

export class Session {
  #channel;
  #address;
  #settings;
  #known;
  /** Turns without an end, started by this object. @type {Set<Turn>} */
  #turns = new Set();

  /**
   * @param {import("./channel.js").Channel} channel
   * @param {string} agent
   * @param {string | undefined} id
   * @param {import("./langfx-web.d.ts").SessionOptions} [options]
   */
  constructor(channel, agent, id, { model, instructions, context } = {}) {
    this.#channel = channel;
    this.#address = { agent, session: id ?? mint("ses_") };
    this.#settings = { model, instructions, context };
    this.#known = id !== undefined;
  }

  /** Null until the first prompt of a new session is accepted. */
  get id() {
    return this.#known ? this.#address.session : null;
  }

  /**
   * @param {import("./langfx-web.d.ts").PromptInput} input
   * @param {import("./langfx-web.d.ts").PromptOptions} [options]
   */
  prompt(input, { messageId = mint("msg_"), signal } = {}) {
    const message = /** @type {const} */ ({
      kind: "session_prompt",
      ...this.#address,
      input,
      messageId,
      ...this.#settings,
    });
    const cancel = () => void this.cancel(messageId).catch(() => {});
    const turn = new Turn(this.#channel, message, { signal, cancel });
    this.#turns.add(turn);
    const forget = () => void this.#turns.delete(turn);
    turn.result.then(forget, forget);
    turn.accepted.then(() => (this.#known = true), forget);
    return turn;
  }

  /**
   * Cancels the open turn, or the one with this id. A worker that is too busy to answer gets five seconds.
   * @param {string} [messageId]
   * @returns {Promise<"cancelled" | "none">}
   */
  async cancel(messageId) {
    const turns = [...this.#turns].filter((turn) => messageId === undefined || turn.messageId === messageId);
    const message = { kind: "session_cancel", ...this.#address, messageId };
    try {
      const outcome = await this.#channel.ask(message, { urgent: true, within: LIMITS.cancel });
      if (messageId !== undefined && outcome === "cancelled") turns.forEach((turn) => turn.expectEnd());
      return outcome;
    } catch (error) {
      if (error instanceof LangfxError && error.details.unresponsive) turns.forEach((turn) => turn.giveUp());
      throw error;
    }
  }

  /** The stored lines after `cursor`; stays open for those to come. */
  stream(cursor = 0) {
    if (!Number.isSafeInteger(cursor) || cursor < 0) throw invalidValue("invalid_cursor", `No cursor: ${cursor}.`);
    return this.#channel.stream({ kind: "session_stream", ...this.#address, cursor });
  }

  /** The conversation as messages in their plain form. */
  messages() {
    return this.#channel.ask({ kind: "session_messages", ...this.#address });
  }

  /** What the turns that run here do, from now on. */
  watch() {
    return this.#channel.stream({ kind: "session_watch", ...this.#address });
  }

  /** The questions that turns of this conversation wait with. */
  gates() {
    return this.#channel.ask({ kind: "session_gates", ...this.#address });
  }

  /** @param {string} gateId @param {any} value of the kind that the gate's `schema` says */
  answer(gateId, value) {
    return this.#channel.ask({ kind: "session_answer", ...this.#address, gateId, value });
  }

  /** @param {string} gateId @param {string} [reason] for whoever asked */
  decline(gateId, reason) {
    return this.#channel.ask({ kind: "session_decline", ...this.#address, gateId, reason });
  }
}

/** @param {string} prefix */
function mint(prefix) {
  const random = crypto.getRandomValues(new Uint8Array(26));
  return prefix + Array.from(random, (byte) => (byte % 36).toString(36)).join("");
}

/** @param {string} code @param {string} message */
function invalidValue(code, message) {
  return new LangfxError("InvalidValueError", code, message);
}
