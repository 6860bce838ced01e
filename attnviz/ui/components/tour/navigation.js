// Moves between the stops of the tour, by buttons and keys. In the quiz, arrow keys focus its words; Esc ends the tour.

import { isForPage } from "../keyboard.js";
import { find, findAll } from "../shared.js";

/** The previous and next stop that this translation has; null where there is none.
 * @param {TourStop[]} stops @param {number} here */
export function adjacentStops(stops, here) {
  const existing = stops.filter(({ missing }) => !missing).map(({ number }) => number);
  here = Math.min(here, existing.at(-1) ?? here); // a link may name a stop that this level of detail does not have
  return { before: existing.findLast((one) => one < here) ?? null, after: existing.find((one) => one > here) ?? null };
}

const LEFT_OR_RIGHT = ["ArrowLeft", "ArrowRight"];

/** Focuses the current word of a question of the quiz; returns whether one is waiting for an answer.
 * @param {HTMLElement} root */
export function focusWord(root) {
  const [word] = findAll(root, ".english .word[tabindex='0']:enabled");
  word?.focus({ preventScroll: true });
  return word !== undefined;
}

/** Handles a key during the tour: arrow keys go from stop to stop, in the quiz to its words, and Esc ends it.
 * @param {TourState} state @param {KeyboardEvent} event @param {(stop: number | null) => void} go */
export function onTourKey(state, event, go) {
  const { root } = state;
  if (state.at === null || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const path = event.composedPath(), own = path.includes(find(root, ".card"));
  const handledElsewhere = !isForPage(event, ".card") || path[0] instanceof HTMLInputElement ||
    Boolean(root.querySelector("[role='group'].english :focus"));
  if (event.key === "Escape" && (own || !handledElsewhere)) go(null);
  else if (handledElsewhere || !around(state)) return;
  else if (root.querySelector(".card.asking") && LEFT_OR_RIGHT.includes(event.key)) focusWord(root);
  else if (event.key === "ArrowRight" && around(state)?.after) turn(state, "after", go); // at the last stop, only the button ends
  else if (event.key === "ArrowLeft") turn(state, "before", go);
  else return;
  event.preventDefault();
}

/** The stops around the current one; null while they are not known. @param {TourState} state */
const around = ({ at, fetched }) => fetched && at !== null ? adjacentStops(fetched.payload.stops, at) : null;

/** Goes to the stop after this one, where the tour ends after the last, or to that before it.
 * @param {TourState} state @param {"before" | "after"} way @param {(stop: number | null) => void} go */
export function turn(state, way, go) {
  const stops = around(state);
  if (stops && (way === "after" || stops.before)) go(stops[way]);
}
