// The keys of the player: what each does.

import { isForPage, plays, stepBy } from "../keyboard.js";
import { viewOf } from "../view.js";
import { looked } from "./mark_step.js";

/**
 * The source piece `by` stops further down, in the order the rows of the stages stand in. Where the heatmap is by pieces
 * every piece is a stop; where it is by words, of each word the piece that the step looks at most: its frame moves.
 * @param {PlayerState} state
 * @param {number} by
 */
function neighbour(state, by) {
  const { data, step } = state;
  const stopOf = new Map(
    data.source.flatMap(({ pieces }, k) => pieces.map((j) => /** @type {const} */ ([j, data.by === "words" ? k : j]))),
  );
  /** @type {Map<number | undefined, number>} */
  const pieces = new Map(); // of each stop, the strongest first
  for (const j of data.orders[step]) {
    if (!pieces.has(stopOf.get(j))) pieces.set(stopOf.get(j), j);
  }
  const stops = [...pieces.keys()];
  if (state.order !== "strongest") stops.sort((one, other) => Number(one) - Number(other));
  const next = stops.indexOf(stopOf.get(looked(state))) + by;
  return pieces.get(stops[Math.min(Math.max(next, 0), stops.length - 1)]);
}

/** @type {Record<string, (state: PlayerState) => Choice>} */
const KEYS = {
  ArrowDown: (state) => ({ source: neighbour(state, 1) }),
  ArrowUp: (state) => ({ source: neighbour(state, -1) }),
};

/**
 * Presses the next of the faces of the heatmap, where it has them: the server draws it, so that the key is the control's.
 * @param {HTMLElement} root
 */
function turn(root) {
  const faces = [...viewOf(root).querySelectorAll("[class*='st-key-face'] [role='radio']")];
  const shown = faces.findIndex((face) => face.matches("[aria-checked='true'], :checked"));
  const next = faces[(shown + 1) % faces.length];
  if (next instanceof HTMLElement) next.click();
}

/**
 * @param {KeyboardEvent} event
 * @param {PlayerState} state
 * @param {PlayerControl} control
 * @param {HTMLElement} root
 */
export function keys(event, state, { choose, play }, root) {
  if (viewOf(root).hasAttribute("data-tour")) return; // until it ends, the keys are the tour's
  if (!isForPage(event)) return;
  const step = stepBy(event, state.step, state.data.weights.length - 1);
  if (step !== null) choose({ step });
  else if (KEYS[event.key]) choose(KEYS[event.key](state));
  else if (plays(event)) play();
  else if (event.key.toLowerCase() === "b") turn(root);
  else if (event.key === "Escape" && state.source !== null) choose({ source: null });
  else return;
  event.preventDefault();
}

/**
 * Takes the focus from what has it, if `selector` names that.
 * @param {string} selector
 */
function blur(selector) {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.matches(selector)) activeElement.blur();
}

/** @param {PointerEvent} event */
export function release(event) {
  // A click on a blank spot gives the whole page the focus, and the next key would draw its frame.
  blur(".stMain");
  // The arrows of a radio group are for those who came to it by the keyboard; after the mouse they are to step again.
  // The press ends before the click and the choice is drawn anew after it: hence the wait.
  const radio = "[role='radio'], [type='radio']";
  if (event.target instanceof Element && event.target.closest(`${radio}, label:has([type='radio'])`)) {
    setTimeout(() => blur(radio), 0);
  }
}
