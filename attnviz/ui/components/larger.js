// Pictures for a projector: in lecture mode all that a figure measures in pixels, its letters first, is as much larger as the
// letters of the page are.

const LETTERS = 16; // pixels of the page's letters outside lecture mode

const PIXELS = new Set([
  "size",
  "height",
  ...["l", "r", "t", "b", "pad"],
  ...["standoff", "ticklabelstandoff", "ticklen", "xshift", "yshift"],
  ...["thickness", "xpad", "ypad"],
  ...["narrowest", "widest"],
]);

/** How many times as large pictures are to be; 1 outside lecture mode, where nobody asks the page for its style. */
export function enlargement() {
  const page = document.documentElement;
  return page.hasAttribute("data-lecture") ? parseFloat(getComputedStyle(page).fontSize) / LETTERS : 1;
}

/**
 * A part of a figure `by` times as large. Numbers by which it draws are left as they are, and so is the width, which is the
 * page's.
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
 * Calls `redraw` whenever pictures are to have another size, until the returned function is called.
 * @param {() => void} redraw
 */
export function onLetters(redraw) {
  document.addEventListener("attnviz:letters", redraw);
  return () => document.removeEventListener("attnviz:letters", redraw);
}
