// @ts-check
/**
 * langfx_web on the page: LLM agents in a worker of this tab.
 */

import { connectTo } from "./connect.js";
import { manifest } from "./manifest.js";

/** @type {typeof import("./langfx-web.d.ts").connect} */
export const connect = (options = {}) => connectTo(options, { manifest });
