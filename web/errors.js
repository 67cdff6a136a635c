// @ts-check
/**
 * The errors of the page: an `Error` with `name`, `code`, `retryable` and `details`, whoever made it.
 */

/** @typedef {import("../worker/protocol.js").WireError} WireError */

export class LangfxError extends Error {
  /**
   * @param {string} name
   * @param {string} code
   * @param {string} message
   * @param {{retryable?: boolean} & Record<string, any>} [details]
   */
  constructor(name, code, message, { retryable = false, ...details } = {}) {
    super(message);
    this.name = name;
    this.code = code;
    this.retryable = retryable;
    this.details = details;
  }
}

/** @param {WireError} error */
export function fromWire({ name, code, message, retryable, details }) {
  return new LangfxError(name, code, message, { ...details, retryable });
}

/** @param {string} code @param {string} message @param {Record<string, any>} [details] */
export const bootError = (code, message, details) => new LangfxError("BootError", code, message, details);

/** @param {string} message @param {Record<string, any>} [details] */
export const invalidArgument = (message, details) =>
  new LangfxError("InvalidArgumentError", "invalid_argument", message, details);

/** @param {string} code @param {string} message @param {(string | number)[]} path */
export const notPortable = (code, message, path) => new LangfxError("NotPortableError", code, message, { path });

export const bridgeClosed = () => new LangfxError("BridgeClosedError", "bridge_closed", "The bridge was closed.");

/** @param {string} reason */
export const workerStopped = (reason) =>
  new LangfxError("WorkerStoppedError", "worker_stopped", reason, { retryable: true });

/** @param {Record<string, any>} [details] */
export const cancelled = (details) =>
  new LangfxError(
    "AbortError",
    "cancelled",
    details?.unresponsive ? "Cancelled, but Python does not answer; close() ends it." : "Cancelled.",
    details,
  );
