/**
 * The service worker of langfx_web, to be imported into one of your own.
 *
 * @example
 * // sw.js, where you have no other service worker: beside the page that is to start without a network
 * import { listen } from "./dist/langfx-web-sw.js";
 * listen();
 *
 * @example
 * // in a service worker of yours
 * import { activate, install, respond } from "./dist/langfx-web-sw.js";
 * addEventListener("install", (event) => event.waitUntil(install()));
 * addEventListener("activate", (event) => event.waitUntil(activate()));
 * addEventListener("fetch", (event) => { if (!respond(event)) mine(event); });
 */

/** Everything below, and the page's own files as `connect({ offline })` has kept them: network first. */
export function listen(): void;

/** Keeps what a start of this release needs; rejects if a file cannot be had. */
export function install(): Promise<void>;

/** Forgets older releases, but for those that a worker still runs on. */
export function activate(): Promise<void>;

/**
 * Answers a GET of a file of this release, from what is kept if it is, and of `langfx-web.js`, network first.
 * Returns whether it did; every other request is left alone.
 */
export function respond(event: FetchLike): boolean;

/** What is needed of a `FetchEvent`. */
export interface FetchLike {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}
