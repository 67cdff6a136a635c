// @ts-check
/** What a visitor can do about a model that does not answer, in a sentence or two. */

import { helpToReach, hostOf } from "./providers.js";

/** @import { Failure } from "./start.js" */

/**
 * What failed, as far as advice depends on it.
 * @typedef {object} Asked
 * @property {string} server The base URL.
 * @property {boolean} hasKey
 * @property {string} page The origin of the page that asked.
 */

/** @type {Record<string, (asked: Asked) => string>} By the code of the failure. */
const ADVICE = {
  authentication: ({ hasKey, server }) =>
    hasKey
      ? `Type the key again, as ${hostOf(server)} shows it; some accounts do not allow keys in browsers at all.`
      : `${hostOf(server)} wants a key: type yours.`,
  model_not_found: () => "List the models and pick one, or look at how the name is written.",
  connection: ({ server, page }) => helpToReach(server, page),
  timeout: () => "Try again, or pick a smaller model: it may still be loading.",
  mixed_content: () =>
    "This page came by https, and browsers let it reach http servers on this machine only: use localhost, or serve the model by https.",
  insecure_url: () => "A key is sent by https only: use an https address, or leave the key empty.",
  invalid_argument: () => "A base URL looks like https://api.example.com/v1.",
  invalid_request: ({ server }) =>
    `See whether ${server} is the root of the API, which mostly ends in /v1, and whether this model can call tools.`,
  quota_exceeded: () => "This account has no credit left: add some there, or use another key.",
  rate_limit: () => "Wait a little and try again.",
  context_limit: () => "Start over: the conversation has become too long for this model.",
  protocol: ({ server }) => `See whether ${server} speaks the wire that you have chosen.`,
};

/**
 * A failure of a model with what to do about it, where that is known.
 * @param {Failure} failure
 * @param {Asked | null} asked None where the script failed.
 * @returns {Failure}
 */
export function advised(failure, asked) {
  const advice = asked && ADVICE[failure.code]?.(asked);
  return advice ? { ...failure, advice } : failure;
}

/**
 * The whole of it, to be read out.
 * @param {Failure} failure
 */
export function told({ message, advice }) {
  if (!advice) return message;
  return `${message}${/[.!?]$/.test(message) ? "" : "."} ${advice}`;
}
