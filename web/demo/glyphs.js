// @ts-check
/** Small line drawings of what the shop sells. */

const SVG = "http://www.w3.org/2000/svg";

/** By order; an order that is not here gets a box. */
const PATHS = /** @type {Record<string, string>} */ ({
  7: "M8 20h8M12 20v-6.5M7 13.5 9.5 5h5L17 13.5z",
  12: "M3.5 6.5h17v11h-17zM6 9h12v6H6z",
  19: "M4 13.5h16V18H4zM7.5 13.5 9 6.5M12 13.5v-8M16.5 13.5 15 6.5",
  23: "M4 5h16v14H4zM7.5 8.5h4.5v5H7.5zM15 9.5h2.5v6H14",
});

const BOX = "M4.5 8 12 4.5 19.5 8v8L12 19.5 4.5 16zM4.5 8 12 11.5 19.5 8M12 11.5v8";

/**
 * @param {string} id
 * @returns {SVGElement}
 */
export function glyph(id) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[id] ?? BOX);
  svg.append(path);
  return svg;
}
