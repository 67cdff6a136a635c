// @ts-check
/**
 * Makes a page start without a network: registers the service worker, and keeps the page's own files for it.
 */

/** @typedef {import("./langfx-web.d.ts").ConnectOptions} ConnectOptions */

/** What a script asked for is data, not a part of the page. */
const DATA = ["fetch", "xmlhttprequest", "beacon", "eventsource"];

/**
 * @param {ConnectOptions} options
 * @param {string} runtime URL of the runtime folder
 * @throws {Error} that says why the page will not start without a network
 */
export async function keepOffline({ offline, modules = [] }, runtime) {
  const { worker, files = [] } = typeof offline === "object" ? offline : {};
  const folder = new URL("../", runtime).href;
  if (!isOurOrigin(folder)) throw new Error(`${folder} is on another origin`);
  const script = worker === undefined ? `${folder}langfx-web-sw.js` : fromPage(worker);
  await register(script, folder);
  await keepPage([...modules, ...files].map(fromPage), loadedFiles(folder));
}

/** @param {string} script @param {string} folder of the bundle */
async function register(script, folder) {
  const { serviceWorker } = navigator;
  if (!serviceWorker) throw new Error("there are no service workers here: they need https, or localhost");
  for (const place of [location.href, folder]) {
    const other = scriptOf(await serviceWorker.getRegistration(place));
    if (other && other !== script) throw new Error(`${place} has a service worker of its own, ${other}, which stays`);
  }
  const scope = commonFolder(location.href, folder);
  try {
    await serviceWorker.register(script, { type: "module", scope });
  } catch (error) {
    throw new Error(`the service worker ${script} cannot serve ${scope}: ${error}`);
  }
}

/** @param {ServiceWorkerRegistration | undefined} registration */
function scriptOf(registration) {
  return (registration?.active ?? registration?.waiting ?? registration?.installing)?.scriptURL;
}

/** The deepest folder that holds both. @param {string} one @param {string} other */
function commonFolder(one, other) {
  let end = 0;
  while (end < one.length && one[end] === other[end]) end++;
  return one.slice(0, one.lastIndexOf("/", end - 1) + 1);
}

/** What the page has loaded from its origin, without what is the service worker's business. @param {string} folder */
function loadedFiles(folder) {
  return /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"))
    .filter(({ initiatorType }) => !DATA.includes(initiatorType))
    .map(({ name }) => name)
    .filter((url) => !url.startsWith(`${folder}runtime-`) && url !== `${folder}langfx-web.js`);
}

/**
 * Keeps this page and its files as they are now, in place of what was kept of it before.
 * @param {string[]} needed
 * @param {string[]} loaded by the page, which may do without one that is missing
 */
async function keepPage(needed, loaded) {
  const page = location.origin + location.pathname;
  const cache = await caches.open(`langfx-web page ${page}`);
  const [must, may] = [[page, ...needed], loaded].map((urls) => [...new Set(urls.filter(isOurOrigin))]);
  await Promise.all(must.map((url) => keep(url, cache)));
  await Promise.allSettled(may.map((url) => keep(url, cache)));
  const stale = (await cache.keys()).filter(({ url }) => !must.includes(url) && !may.includes(url));
  await Promise.all(stale.map((request) => cache.delete(request)));
}

/**
 * Keeps a file as it is now, or as it was kept before where it cannot be had.
 * @param {string} url @param {Cache} cache
 */
async function keep(url, cache) {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    // A page may not be answered with a response that remembers a redirect.
    const { status, headers } = response;
    await cache.put(url, response.redirected ? new Response(response.body, { status, headers }) : response);
  } catch (error) {
    if (!(await cache.match(url))) throw new Error(`${url} could not be kept: ${error}`);
  }
}

/** @param {string} url */
function isOurOrigin(url) {
  return new URL(url).origin === location.origin;
}

/** @param {string | URL} url */
function fromPage(url) {
  return new URL(url, document.baseURI).href;
}
