// @ts-check
/**
 * The service worker: keeps the files of this release in the browser and answers with them, so that a page starts
 * without a network. Importing it does nothing; the script `langfx-web-sw.js` of the bundle calls `listen`.
 */

import { manifest } from "./manifest.js";

const scope = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
/** Where the files of this release lie, and where its stable names do. */
const runtime = new URL("../", import.meta.url).href;
const folder = new URL("../../", import.meta.url).href;
/** A release in another folder, or of another app on this origin, has another cache. */
const releases = `langfx-web ${folder}runtime-`;
const release = `langfx-web ${runtime}`;

/** What a start needs; other files are kept once they were asked for. */
const SETS = ["boot", "schemas", "page", "later"];
/** The manifest as a module, which cannot describe itself. */
const MANIFEST = "web/manifest.js";

/** @type {typeof import("./langfx-web-sw.d.ts").listen} */
export function listen() {
  scope.addEventListener("install", (event) => event.waitUntil(install()));
  scope.addEventListener("activate", (event) => event.waitUntil(activate()));
  scope.addEventListener("fetch", (event) => void (respond(event) || respondForPage(event)));
}

/** @type {typeof import("./langfx-web-sw.d.ts").install} */
export async function install() {
  const cache = await caches.open(release);
  const needed = Object.keys(manifest.files).filter((file) => SETS.includes(manifest.files[file]?.set ?? ""));
  await Promise.all([...needed, MANIFEST].map((file) => keep(file, cache)));
}

/** @type {typeof import("./langfx-web-sw.d.ts").activate} */
export async function activate() {
  const open = await scope.clients.matchAll({ type: "all", includeUncontrolled: true });
  for (const name of await caches.keys()) {
    const isOlder = name.startsWith(releases) && name !== release;
    if (isOlder && !open.some(({ url }) => name === `langfx-web ${runtimeOf(url)}`)) await caches.delete(name);
  }
}

/** @type {typeof import("./langfx-web-sw.d.ts").respond} */
export function respond(event) {
  const { method, url } = event.request;
  if (method !== "GET") return false;
  const file = url.startsWith(runtime) ? url.slice(runtime.length) : "";
  if (file === MANIFEST || Object.hasOwn(manifest.files, file)) event.respondWith(keptFirst(event, file));
  else if (url === `${folder}langfx-web.js`) event.respondWith(networkFirst(event.request, async () => frontDoor()));
  else return false;
  return true;
}

/**
 * The page's own files come from the network as long as there is one, and then from where `offline.js` has put them.
 * Requests that do not look like one for a file are not touched.
 * @param {FetchEvent} event
 */
function respondForPage(event) {
  const { method, url, destination, mode } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== scope.location.origin || !(destination || /\.\w+$/.test(pathname))) return;
  // A page is the same page whatever its query says; a version in a file's query matters.
  const options = { ignoreSearch: mode === "navigate", ignoreVary: true };
  event.respondWith(networkFirst(event.request, () => caches.match(url, options)));
}

/** @param {Request} request @param {() => Promise<Response | undefined>} otherwise */
async function networkFirst(request, otherwise) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await otherwise();
    if (kept) return kept;
    throw error;
  }
}

/** @param {import("./langfx-web-sw.d.ts").FetchLike} event @param {string} file */
async function keptFirst(event, file) {
  const cache = await caches.open(release);
  const kept = await cache.match(runtime + file, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(event.request);
  // From the browser's own cache, where it lies now, and only if it is what the manifest says.
  if (response.ok) event.waitUntil(keep(file, cache).catch(() => {}));
  return response;
}

/** @param {string} file @param {Cache} cache @throws {Error} if the file cannot be had as the manifest describes it */
async function keep(file, cache) {
  const { sha256, unpacked } = manifest.files[file] ?? { sha256: "" };
  const integrity = [sha256, unpacked?.sha256].filter(Boolean).join(" ");
  const response = await fetch(runtime + file, { integrity, cache: "force-cache" });
  if (!response.ok) throw new Error(`${file} was answered with status ${response.status}`);
  await cache.put(runtime + file, response);
}

/** What the stable name leads to in this release. */
function frontDoor() {
  const headers = { "content-type": "text/javascript; charset=utf-8" };
  return new Response(`export * from ${JSON.stringify(`${runtime}web/langfx-web.js`)};\n`, { headers });
}

/** The runtime folder that a worker of ours was started from. @param {string} url */
function runtimeOf(url) {
  return new URL("../", url).href;
}
