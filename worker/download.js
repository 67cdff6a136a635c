// @ts-check
/**
 * Files of the runtime folder: downloaded side by side, counted byte by byte, checked against the manifest.
 */

import { isGzipped } from "./pack.js";

/** What is known of a file before it comes. @typedef {Partial<import("./protocol.js").ManifestFile>} Expected */
/** @typedef {{after(milliseconds: number, then: () => void): () => void}} Clock `after` returns what stops the timer */

const RETRY_AFTER = 500;
/** A window of this length without a byte ends an attempt. */
const STALLED_AFTER = 30_000;

/** An `Error` with the fields of a wire error, so that it can be posted as it is. */
export class BootError extends Error {
  name = "BootError";

  /**
   * @param {string} code
   * @param {string} message
   * @param {{retryable?: boolean} & Record<string, any>} [details]
   */
  constructor(code, message, { retryable = false, ...details } = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.details = details;
  }
}

/** @param {unknown} error @returns {import("./protocol.js").WireError} */
export function toWire(error) {
  if (error instanceof BootError) {
    const { code, name, message, retryable, details } = error;
    return { code, name, message, retryable, details };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "boot_failed",
    name: "BootError",
    message: `Python did not start: ${message}`,
    retryable: false,
    details: {},
  };
}

/**
 * Downloads one file; a network error or a 5xx status is tried once more.
 * @param {string} file path below `base`
 * @param {Expected} expected
 * @param {object} options
 * @param {string} options.base
 * @param {typeof fetch} options.fetch
 * @param {Clock} options.clock
 * @param {"high" | "low" | "auto"} [options.priority]
 * @param {(bytes: number) => void} [options.received] told how much is there; after a retry it starts again at 0
 * @param {(response: Response) => void} [options.opened] gets a copy of each answer before it is read
 * @returns {Promise<ArrayBuffer>}
 * @throws {BootError} `download_failed` or `integrity_failed`
 */
export async function download(file, expected, options) {
  try {
    return await attempt(file, expected, options);
  } catch (error) {
    if (!(error instanceof BootError && error.retryable)) throw error;
  }
  await new Promise((resolve) => options.clock.after(RETRY_AFTER, () => resolve(undefined)));
  return attempt(file, expected, options);
}

/** @type {typeof download} */
async function attempt(file, expected, { base, fetch, clock, priority = "auto", received = () => {}, opened }) {
  const controller = new AbortController();
  const stall = watchForStall(clock, () => controller.abort(new Error(`no byte came for ${STALLED_AFTER / 1000} s`)));
  try {
    const response = await fetch(new URL(file, base), { priority, signal: controller.signal });
    if (!response.ok) throw downloadFailed(file, response.status);
    opened?.(response.clone());
    const { buffer, sha256 } = await readAll(response, file, expected, (bytes) => {
      stall.moved();
      received(bytes);
    });
    await check(buffer, file, sha256, response);
    return buffer;
  } catch (error) {
    controller.abort();
    throw error instanceof BootError ? error : downloadFailed(file, null, String(error));
  } finally {
    stall.stop();
  }
}

/**
 * @param {Response} response
 * @param {string} file
 * @param {Expected} expected
 * @param {(bytes: number) => void} received
 */
async function readAll(response, file, expected, received) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  let part = await reader.read();
  const { size, sha256 } = asSent(expected, part.value);
  if (size === undefined) return { buffer: await readRest(reader, part, received), sha256 };
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (; !part.done; part = await reader.read()) {
    if (offset + part.value.length > size) throw integrityFailed(file, response, `more than ${size} bytes`);
    bytes.set(part.value, offset);
    offset += part.value.length;
    received(offset);
  }
  if (offset < size) throw integrityFailed(file, response, `${offset} bytes instead of ${size}`);
  return { buffer: bytes.buffer, sha256 };
}

/**
 * What a reader has from `part` on, however long it is.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @param {ReadableStreamReadResult<Uint8Array>} part
 * @param {(bytes: number) => void} received
 */
async function readRest(reader, part, received) {
  const parts = [];
  let bytes = 0;
  for (; !part.done; part = await reader.read()) {
    parts.push(/** @type {Uint8Array<ArrayBuffer>} */ (part.value));
    bytes += part.value.length;
    received(bytes);
  }
  return new Blob(parts).arrayBuffer();
}

/**
 * Some hosts unpack what is gzipped, and the browser then gets the zip itself.
 * @param {Expected} expected
 * @param {Uint8Array} [start]
 * @returns {Expected}
 */
function asSent(expected, start) {
  return start && expected.unpacked && !isGzipped(start) ? expected.unpacked : expected;
}

/**
 * @param {ArrayBuffer} buffer
 * @param {string} file
 * @param {string | undefined} sha256 nothing is checked without it
 * @param {Response} response
 */
async function check(buffer, file, sha256, response) {
  if (!sha256) return;
  const good = crypto.subtle ? (await digest(buffer)) === sha256 : await passesSri(buffer, sha256);
  if (!good) throw integrityFailed(file, response, "another hash");
}

/** The SHA-256 in SRI spelling. @param {ArrayBuffer} buffer */
export async function digest(buffer) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
  return `sha256-${btoa(String.fromCharCode(...hash))}`;
}

/**
 * Origins without TLS have no `crypto.subtle`, but their fetch still checks integrity.
 * @param {ArrayBuffer} buffer
 * @param {string} integrity
 */
async function passesSri(buffer, integrity) {
  const url = URL.createObjectURL(new Blob([buffer]));
  try {
    await fetch(url, { integrity });
    return true;
  } catch {
    return false;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {Clock} clock @param {() => void} stalled */
function watchForStall(clock, stalled) {
  let moved = false;
  let stop = () => {};
  const arm = () => {
    stop = clock.after(STALLED_AFTER, () => {
      if (!moved) return stalled();
      moved = false;
      arm();
    });
  };
  arm();
  return { moved: () => void (moved = true), stop: () => stop() };
}

/**
 * @param {string} file
 * @param {number | null} status
 * @param {string} [reason]
 */
function downloadFailed(file, status, reason = `status ${status}`) {
  const retryable = status === null || status >= 500;
  return new BootError("download_failed", `${file} could not be downloaded: ${reason}.`, { retryable, file, status });
}

/**
 * @param {string} file
 * @param {Response} response
 * @param {string} reason
 */
function integrityFailed(file, response, reason) {
  const type = response.headers.get("content-type");
  const message = `${file} is not the file it should be: ${reason} (received as ${type}).`;
  return new BootError("integrity_failed", message, { file, type });
}
