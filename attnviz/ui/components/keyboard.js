// The keys that move through the steps of a view, and when a key belongs to something else.

const FIELDS = [
  "input:not([type='checkbox'])",
  "textarea",
  "select",
  "[contenteditable='true']",
  "[role='slider']",
  "[role='listbox']",
  "[role='menu']",
  "[role='radio']",
  "[role='dialog']",
].join(); // elements that handle keys themselves
const PRESSED = "button, a, summary, input:not([type='range'])"; // Space presses these themselves

/** @type {Record<string, number>} */
const STEPPING = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const CLICKER = { PageDown: 1, PageUp: -1 }; // a presenter's remote control

/**
 * Whether a key is for the page: not for the browser, nor for an element that handles keys itself (also within a
 * component), unless it matches the selector `own`.
 * @param {KeyboardEvent} event
 * @param {string} [own]
 */
export function isForPage(event, own) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
  const path = event.composedPath().filter((node) => node instanceof Element);
  return !path.some((node) => node.matches(FIELDS) && !(own && node.matches(own)));
}

/**
 * The step that a key leads to from `step`, where `last` is the last; null for any other key.
 * @param {KeyboardEvent} event
 * @param {number} step
 * @param {number} last
 */
export function stepBy({ key }, step, last) {
  const by = STEPPING[key] ?? (document.documentElement.hasAttribute("data-lecture") ? CLICKER[key] : undefined);
  return by === undefined ? null : Math.min(Math.max(step + by, 0), last);
}

/**
 * Whether a key plays and pauses: Space, where it presses no button.
 * @param {KeyboardEvent} event
 */
export function plays(event) {
  const [here] = event.composedPath();
  return event.key === " " && !(here instanceof Element && here.closest(PRESSED));
}
