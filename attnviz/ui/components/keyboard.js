// What a key press means to a component: whether it is for the page, to which step it leads, whether it toggles playback;
// and the keyboard focus of a group of controls. Most listeners are in the components.

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
  "[data-scrolls]:focus-visible",
].join(); // controls that handle keys themselves
const PRESSABLE = "button, a, summary, input:not([type='range'])"; // Space already activates these

/** @type {Record<string, number>} */
const LINE_KEYS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const CLICKER_KEYS = { PageDown: 1, PageUp: -1 }; // a presenter's remote control, in lecture mode only

/** True unless the browser or a focused control (also within a component) should get the key. A control that matches
 * the selector `own` does not count. @param {KeyboardEvent} event @param {string} [own] */
export function isForPage(event, own) {
  const { key, shiftKey } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (shiftKey && key !== "?")) {
    return false;
  }
  if (key === "Escape" && document.querySelector(".opened:popover-open")) return false; // it closes that first
  const path = event.composedPath().filter((node) => node instanceof Element);
  return !path.some((node) => node.matches(FIELDS) && !(own && node.matches(own)));
}

/** The place in a line that a key of `keys` leads to from `place`, where `last` is the last; null for any other key.
 * @param {KeyboardEvent} event @param {number} place @param {number} last @param {Record<string, number>} [keys] */
export function placeForKey({ key }, place, last, keys = LINE_KEYS) {
  return key in keys ? Math.min(Math.max(place + keys[key], 0), last) : null;
}

/** Moves the focus within a group of controls that is one tab stop. */
export function moveFocus(/** @type {KeyboardEvent} */ event, /** @type {HTMLElement[]} */ controls) {
  const here = controls.findIndex((control) => control === event.target);
  const place = here < 0 ? null : placeForKey(event, here, controls.length - 1);
  if (place === null) return;
  event.preventDefault();
  makeOneTabStop(controls, controls[place]);
}

/** Moves the focus from a radio button to that in the direction of an arrow key, and presses it; beyond the end, to the
 * other end of a single row. @param {KeyboardEvent} event @param {HTMLElement[]} radios
 * @param {number} [across] how many stand side by side in a grid */
export function pressByArrow(event, radios, across) {
  const down = across ?? 1, here = radios.findIndex((radio) => radio === event.target);
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: down, ArrowUp: -down }[event.key];
  if (!by || here < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault(); // and do not step
  event.stopPropagation();
  const next = across ? radios[here + by] : radios.at((here + by) % radios.length);
  next?.focus();
  next?.click();
}

/** Whether lecture mode is on, in which a presenter's remote control works. */
export const isLecture = () => document.documentElement.hasAttribute("data-lecture");

/** The step that a key leads to from `step`, where `last` is the last; null for any other key.
 * @param {KeyboardEvent} event @param {number} step @param {number} last */
export function stepForKey(event, step, last) {
  return placeForKey(event, step, last) ?? (isLecture() ? placeForKey(event, step, last, CLICKER_KEYS) : null);
}

/** Whether a key toggles playback: Space outside buttons and fields. */
export function isPlayKey(/** @type {KeyboardEvent} */ event) {
  const [here] = event.composedPath();
  return event.key === " " && !(here instanceof Element && here.closest(PRESSABLE));
}

/** Calls `act` at Escape, which has no other effect unless that returns false, until `signal` aborts. */
export const onEscape = (/** @type {() => void | false} */ act, /** @type {AbortSignal} */ signal) =>
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || act() === false) return;
    event.preventDefault();
    event.stopPropagation();
  }, { signal, capture: true });

/** Makes a group of controls one tab stop, that of `current`: keys move within the group (ARIA's roving tabindex). If
 * one of them has the focus, `current` gets it, without scrolling. */
export function makeOneTabStop(/** @type {HTMLElement[]} */ group, /** @type {HTMLElement | undefined} */ current) {
  for (const control of group) {
    const index = control === current ? "0" : "-1"; // setting it, even to its value, recomputes styles
    if (control.getAttribute("tabindex") !== index) control.setAttribute("tabindex", index);
  }
  if (group.some((control) => control !== current && control.matches(":focus"))) {
    current?.focus({ preventScroll: true });
  }
}
