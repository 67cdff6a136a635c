// @ts-check
/**
 * How many bytes a host sends of a file that it compresses well: `node squeeze.mjs FILE…`, JSON list of sizes out.
 */

import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
const sizes = process.argv.slice(2).map((file) => brotliCompressSync(readFileSync(file), { params }).length);
process.stdout.write(JSON.stringify(sizes));
