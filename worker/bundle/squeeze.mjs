// @ts-check
/**
 * What a host sends of a file that it compresses well: `node squeeze.mjs FILE`, the bytes of the strongest brotli out.
 */

import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const content = readFileSync(process.argv[2] ?? "");
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
process.stdout.write(brotliCompressSync(content, { params }));
