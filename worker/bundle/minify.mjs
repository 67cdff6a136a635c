// @ts-check
/**
 * Prints scripts as short as they can be, each a module of its own with the same imports and exports:
 * `node minify.mjs TERSER`, JSON `{name: text}` in, the same out. Names of properties stay as they are.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";

const [terser = ""] = process.argv.slice(2);
// Run as a plain script, the bundle does without its package for source maps, of which we make none.
runInThisContext(readFileSync(join(terser, "dist", "bundle.min.js"), "utf8"));
const { minify } = /** @type {any} */ (globalThis).Terser;

/** @type {Record<string, string>} */
const scripts = JSON.parse(readFileSync(0, "utf8"));
const minified = Object.entries(scripts).map(async ([name, text]) => {
  const { code } = await minify({ [name]: text }, { module: true, ecma: 2022, format: { comments: false } });
  return [name, `${code}\n`];
});
process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(minified))));
