// @ts-check
/**
 * The options of `connect`: checked at once, and put into the form that `setup` carries.
 */

import { invalidArgument } from "./errors.js";

/** @typedef {import("./langfx-web.d.ts").ConnectOptions} ConnectOptions */
/** @typedef {import("./langfx-web.d.ts").PageTool} PageTool */

const isFunction = (/** @type {unknown} */ value) => typeof value === "function";
const isBoolean = (/** @type {unknown} */ value) => typeof value === "boolean";
const isPositive = (/** @type {unknown} */ value) => typeof value === "number" && value > 0;
const isText = (/** @type {unknown} */ value) => typeof value === "string";
const isFilled = (/** @type {any} */ value) => isText(value) && /\S/.test(value);
const isUrls = (/** @type {unknown} */ value) => Array.isArray(value) && value.every(isUrl);
const isObject = (/** @type {any} */ value) => typeof value === "object" && value !== null;
const isStore = (/** @type {any} */ value) => value === "memory" || value === "indexeddb" || isText(value?.name);
const isSignal = (/** @type {any} */ value) => isFunction(value?.addEventListener) && isBoolean(value.aborted);

/** Whether it is one beside the page. @param {any} value */
function isUrl(value) {
  try {
    return (isText(value) || value instanceof URL) && !!new URL(value, globalThis.document?.baseURI ?? "file:");
  } catch {
    return false;
  }
}

/** @type {Record<string, (value: any) => boolean>} */
const OPTIONS = {
  modules: isUrls,
  packages: (value) => Array.isArray(value) && value.every(isFilled),
  wheels: isUrls,
  tools: isObject,
  credentials: isFunction,
  store: isStore,
  provider: (value) => Array.isArray(value) || (isObject(value) && Object.values(value).every(Array.isArray)),
  resume: isBoolean,
  baseUrl: isUrl,
  signal: isSignal,
  timeout: isPositive,
  onProgress: isFunction,
  onLog: isFunction,
  onEvent: isFunction,
  jspi: isBoolean,
  snapshot: isBoolean,
  offline: (value) => isBoolean(value) || isObject(value),
};

/** @type {Record<string, (value: any) => boolean>} */
const OFFLINE = { worker: isUrl, files: isUrls };

/** @type {Record<string, (value: any) => boolean>} */
const TOOL = {
  description: isText,
  inputSchema: isObject,
  idempotent: isBoolean,
  writes: isBoolean,
  trusted: isBoolean,
  approval: isBoolean,
  timeout: isPositive,
  execute: isFunction,
};

/** @param {ConnectOptions} options @throws {import("./errors.js").LangfxError} `invalid_argument` */
export function checkOptions(options) {
  check(options, OPTIONS, "connect()");
  if (isObject(options.offline)) check(options.offline, OFFLINE, "offline");
  for (const [name, tool] of Object.entries(options.tools ?? {})) {
    check(tool, TOOL, `tool ${name}`, ["description", "inputSchema", "execute"]);
  }
}

/**
 * @param {any} options
 * @param {Record<string, (value: any) => boolean>} rules
 * @param {string} owner
 * @param {string[]} [required]
 */
function check(options, rules, owner, required = []) {
  if (!isObject(options)) throw invalidArgument(`${owner} takes an object.`);
  for (const name of new Set([...Object.keys(options), ...required])) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) throw invalidArgument(`${owner} has no option ${name}.`, { option: name });
    if (options[name] === undefined && !required.includes(name)) continue;
    if (!rule(options[name])) throw invalidArgument(`${owner}: bad value for ${name}.`, { option: name });
  }
}

/** What Python is told of the page's tools. @param {Record<string, PageTool>} tools */
export function declareTools(tools) {
  return Object.entries(tools).map(([name, { execute, ...tool }]) => ({ name, ...tool }));
}

/**
 * A handler of the page: what it throws is reported once and harms nothing.
 * @template T
 * @param {string} name
 * @param {((value: T) => any) | undefined} handler
 * @returns {(value: T) => void}
 */
export function guarded(name, handler) {
  let reported = false;
  /** @param {unknown} error */
  const report = (error) => {
    if (!reported) console.error(`langfx: ${name} failed`, error);
    reported = true;
  };
  return async (value) => {
    try {
      await handler?.(value);
    } catch (error) {
      report(error);
    }
  };
}
