// Scales figures in lecture mode, for a projector: all their lengths in pixels, also font sizes, grow with the font
// size of the page.

const FONT_SIZE = 16; // of the page outside lecture mode, in pixels

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
  return page.hasAttribute("data-lecture") ? parseFloat(getComputedStyle(page).fontSize) / FONT_SIZE : 1;
}

/**
 * A part of a figure `factor` times as large. Its data are unchanged, and so is the width, which is that of the page.
 * @param {any} part
 * @param {number} factor
 * @returns {any}
 */
export function scaled(part, factor) {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => scaled(one, factor)) : part;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  const lengthInPixels = part.lenmode === "pixels";
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      const inPixels = typeof value === "number" && (PIXELS.has(name) || (lengthInPixels && name === "len"));
      return [name, inPixels ? value * factor : scaled(value, factor)];
    }),
  );
}

/**
 * Calls `redraw` whenever the scale factor changes, until the returned function is called.
 * @param {() => void} redraw
 */
export function onScaleChange(redraw) {
  document.addEventListener("attnviz:letters", redraw);
  return () => document.removeEventListener("attnviz:letters", redraw);
}
