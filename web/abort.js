// @ts-check
/**
 * Signals of the caller: listened to while a command runs, and what a rejection is if one aborted.
 */

/**
 * Calls `abort` when the signal aborts. Returns the function that removes the listener, once.
 * @param {AbortSignal | undefined} signal
 * @param {() => void} abort
 */
export function onAbort(signal, abort) {
  let listening = signal;
  listening?.addEventListener("abort", abort, { once: true });
  return () => {
    listening?.removeEventListener("abort", abort);
    listening = undefined;
  };
}

/**
 * What a command rejects with: the signal's reason if that is why it was cancelled.
 * @param {import("./errors.js").LangfxError} error
 * @param {AbortSignal | undefined} signal
 */
export function reasonOf(error, signal) {
  return signal?.aborted && error.code === "cancelled" && !error.details.unresponsive ? signal.reason : error;
}
