// @ts-check
/**
 * What the worker asks of the page: to run a page tool, or to give a credential.
 */

import { LIMITS } from "../worker/protocol.js";
import { cancelled } from "./errors.js";
import { pack } from "./values.js";

/** @typedef {import("../worker/protocol.js").ToolCall} ToolCall */
/** @typedef {import("../worker/protocol.js").ToolCancel} ToolCancel */
/** @typedef {import("../worker/protocol.js").CredentialRequest} CredentialRequest */

export class Answers {
  #tools;
  #credentials;
  #clock;
  #post;
  /** Requests without an answer; one for any other id is late and dropped. @type {Map<number, AbortController>} */
  #running = new Map();

  /**
   * @param {object} parts
   * @param {Record<string, import("./langfx-web.d.ts").PageTool>} parts.tools
   * @param {import("./langfx-web.d.ts").CredentialsCallback} [parts.credentials]
   * @param {import("./clock.js").Clock} parts.clock
   * @param {(packed: import("./values.js").Packed) => void} parts.post
   */
  constructor({ tools, credentials, clock, post }) {
    this.#tools = new Map(Object.entries(tools));
    this.#credentials = credentials;
    this.#clock = clock;
    this.#post = post;
  }

  /** @param {ToolCall | ToolCancel | CredentialRequest} request */
  handle(request) {
    switch (request.kind) {
      case "tool_call":
        this.#answer(request.id, "tool", ({ signal }) => this.#run(request, signal));
        break;
      case "credential_request":
        this.#answer(request.id, "credential", (controller) => this.#key(request, controller));
        break;
      case "tool_cancel":
        this.#drop(request.id, cancelled());
    }
  }

  /** Aborts what runs; no answer goes out any more. @param {unknown} reason */
  end(reason) {
    for (const id of [...this.#running.keys()]) this.#drop(id, reason);
  }

  /** @param {number} id @param {unknown} reason */
  #drop(id, reason) {
    const controller = this.#running.get(id);
    this.#running.delete(id);
    controller?.abort(reason);
  }

  /**
   * @param {number} id
   * @param {"tool" | "credential"} subject
   * @param {(controller: AbortController) => Promise<any>} work
   */
  async #answer(id, subject, work) {
    const controller = new AbortController();
    this.#running.set(id, controller);
    let packed;
    try {
      packed = pack({ kind: `${subject}_result`, id, value: (await work(controller)) ?? null });
      await packed.reading;
    } catch (error) {
      packed = pack({ kind: `${subject}_error`, id, error: describe(error) });
    }
    if (this.#running.delete(id)) this.#post(packed);
  }

  /** @param {ToolCall} call @param {AbortSignal} signal */
  async #run({ name, input, executionId, sessionId, context, rerun }, signal) {
    const tool = this.#tools.get(name);
    if (!tool) throw Object.assign(new Error(`The page has no tool ${name}.`), { name: "ToolNotFoundError" });
    return tool.execute(input, { signal, executionId, sessionId, context, rerun });
  }

  /** @param {CredentialRequest} request @param {AbortController} controller */
  async #key({ provider, sessionId, rejected }, controller) {
    if (!this.#credentials) throw new Error("connect() was given no credentials callback.");
    const { signal } = controller;
    const late = new Error(`No credential came within ${LIMITS.credentials / 1000} s.`);
    const stop = this.#clock.after(LIMITS.credentials, () => controller.abort(late));
    const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    try {
      const value = await Promise.race([this.#credentials({ provider, sessionId, rejected, signal }), aborted]);
      if (!(typeof value === "string" ? value : value?.apiKey))
        throw new Error("The credentials callback gave no key.");
      return value;
    } finally {
      stop();
    }
  }
}

/** @param {any} error whatever a handler threw */
function describe(error) {
  if (typeof error?.message === "string") return { name: String(error.name ?? "Error"), message: error.message };
  return {
    name: "Error",
    message: typeof error === "string" ? error : "The handler threw something that is no Error.",
  };
}
