// Scales figures in lecture mode, for a projector: all their lengths in pixels, also font sizes, grow with the font
// size of the page. No text of a figure is smaller than that of the page.

const LEAST_FONT_SIZE = 12; // of the text in a figure that is to be scaled, in pixels

const PIXELS = new Set([
  "size",
  "height",
  ...["l", "r", "t", "b", "pad"],
  ...["standoff", "ticklabelstandoff", "ticklen", "xshift", "yshift"],
  ...["thickness", "xpad", "ypad"],
  ...["narrowest", "widest"],
]);

/** Scale factor of figures; 1 outside lecture mode, which avoids computing the page's style. */
export function scaleFactor() {
  const page = document.documentElement;
  return page.hasAttribute("data-lecture") ? parseFloat(getComputedStyle(page).fontSize) / LEAST_FONT_SIZE : 1;
}

/** A part of a figure `factor` times as large. Its data are unchanged, and so is the width, which is that of the page.
 * @param {any} part @param {number} factor
 * @param {number} [least] the smallest size, before it is scaled
 * @returns {any} */
export function scaled(part, factor, least = 0) {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => scaled(one, factor, least)) : part;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  const lengthInPixels = part.lenmode === "pixels";
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      const inPixels = typeof value === "number" && (PIXELS.has(name) || (lengthInPixels && name === "len"));
      const smallest = name.endsWith("font") ? LEAST_FONT_SIZE : 0;
      if (!inPixels) return [name, scaled(value, factor, smallest)];
      return [name, (name === "size" ? Math.max(value, least) : value) * factor];
    }),
  );
}
