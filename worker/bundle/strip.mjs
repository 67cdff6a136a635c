// @ts-check
/**
 * Prints scripts without comments and blanks, statement by statement otherwise: `node strip.mjs TYPESCRIPT`, JSON
 * `{name: text}` in, the same out. The tokens are those of the compiler's parser, so that no regular expression and no
 * template is mistaken for something else.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [compiler = ""] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(compiler);

/** The end of a line that the next one may join: no semicolon can be missing there. */
const CONTINUED = /(^|[{([,])$/;
/** Two tokens that would be another one side by side. */
const JOINED = /^[\w$][\w$#]|^\+\+|^--|^\/\/|^\d\./;

/** @param {string} name @param {string} text */
function stripped(name, text) {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
  let printed = "";
  let end = 0;
  const print = (/** @type {any} */ node) => {
    const children = node.getChildren(file).filter((/** @type {any} */ child) => !ts.isJSDoc(child));
    if (children.length) return children.forEach(print);
    const token = node.getText(file);
    if (!token) return;
    const between = text.slice(end, node.getStart(file));
    if (between.includes("\n") && !CONTINUED.test(printed)) printed += "\n";
    else if (JOINED.test(printed.slice(-1) + token[0])) printed += " ";
    printed += token;
    end = node.getEnd();
  };
  print(file);
  return `${printed}\n`;
}

/** @type {Record<string, string>} */
const scripts = JSON.parse(readFileSync(0, "utf8"));
const all = Object.entries(scripts).map(([name, text]) => [name, stripped(name, text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(all)));
