// @ts-check
/** Values as people read them. */

/**
 * Arguments as a call would show them: `id: "7"`.
 * @param {unknown} input
 */
export function listed(input) {
  if (typeof input !== "object" || input === null) return JSON.stringify(input, plain);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${JSON.stringify(value, plain)}`)
    .join(", ");
}

/**
 * @param {unknown} value A JSON value, which may have large integers, or a text that may be JSON.
 * @returns {string}
 */
export function pretty(value) {
  if (value === undefined) return "none";
  if (typeof value !== "string") return JSON.stringify(value, plain, 2);
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/**
 * @param {string} _
 * @param {unknown} value
 */
const plain = (_, value) => (typeof value === "bigint" ? `${value}` : value);

/** @param {number} milliseconds */
export function lasting(milliseconds) {
  return milliseconds < 1000 ? `${Math.max(0, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
