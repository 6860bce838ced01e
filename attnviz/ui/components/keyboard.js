// Keyboard shortcuts of all players: stepping and play/pause; and whether a key press belongs to a focused control.

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
].join(); // controls that handle keys themselves
const PRESSABLE = "button, a, summary, input:not([type='range'])"; // Space already activates these

/** @type {Record<string, number>} */
const STEP_KEYS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const CLICKER_KEYS = { PageDown: 1, PageUp: -1 }; // a presenter's remote control, in lecture mode only

/**
 * True unless the browser or a focused control (also within a component) should get the key. A control that matches the
 * selector `own` does not count.
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
export function stepForKey({ key }, step, last) {
  const change = STEP_KEYS[key] ??
    (document.documentElement.hasAttribute("data-lecture") ? CLICKER_KEYS[key] : undefined);
  return change === undefined ? null : Math.min(Math.max(step + change, 0), last);
}

/**
 * Whether a key toggles playback: Space outside buttons and fields.
 * @param {KeyboardEvent} event
 */
export function isPlayKey(event) {
  const [here] = event.composedPath();
  return event.key === " " && !(here instanceof Element && here.closest(PRESSABLE));
}
