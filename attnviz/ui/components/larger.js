// Larger figures for a projector: lecture mode scales all lengths in pixels of a figure, its font sizes first, as much as
// the font size of the page.

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
export function enlargement() {
  const page = document.documentElement;
  return page.hasAttribute("data-lecture") ? parseFloat(getComputedStyle(page).fontSize) / FONT_SIZE : 1;
}

/**
 * A part of a figure `by` times as large. Its data are unchanged, and so is the width, which is that of the page.
 * @param {any} part
 * @param {number} by
 * @returns {any}
 */
export function larger(part, by) {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => larger(one, by)) : part;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  const long = part.lenmode === "pixels";
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      const measured = typeof value === "number" && (PIXELS.has(name) || (long && name === "len"));
      return [name, measured ? value * by : larger(value, by)];
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
