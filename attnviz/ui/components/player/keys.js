// Keyboard control of the player: steps, source pieces, playback and the views of the heatmap (faces). Also takes the
// focus from clicked radio buttons, so that arrow keys step again.

import { isForPage, isLecture, isPlayKey, placeForKey, stepForKey } from "../keyboard.js";
import { find, findAll } from "../elements.js";
import { send, viewRoot } from "../view.js";
import { sourceOf, strongestOf, strongestPieces } from "./sentences.js";

/** The source piece `by` stops further down, in the order of the rows of the stages. In a heatmap by steps every piece
 * is a stop; in one by words, the most attended piece of each word. */
function neighbour(/** @type {PlayerState} */ state, /** @type {number} */ by) {
  const { data } = state;
  const stopOf = new Map(
    data.source.flatMap(({ pieces }, k) => pieces.map((j) => /** @type {const} */ ([j, state.by === "words" ? k : j]))),
  );
  /** @type {Map<number | undefined, number>} */
  const pieces = new Map(); // of each stop, the strongest first
  for (const j of strongestPieces(state)) {
    if (!pieces.has(stopOf.get(j))) pieces.set(stopOf.get(j), j);
  }
  const stops = [...pieces.keys()];
  if (state.order !== "strongest") stops.sort((one, other) => Number(one) - Number(other));
  const next = stops.indexOf(stopOf.get(sourceOf(state))) + by;
  return pieces.get(stops[Math.min(Math.max(next, 0), stops.length - 1)]);
}

/** The choice of another word by a key in the focused source sentence; null for any other key or focus.
 * @param {KeyboardEvent} event @param {PlayerState} state @returns {Choice | null} */
function sourceWordForKey(event, state) {
  if (!event.composedPath().includes(find(state.root, ".source"))) return null;
  const { source: sourceWords } = state.data, source = sourceOf(state);
  const here = sourceWords.findIndex(({ pieces }) => pieces.includes(source));
  const place = placeForKey(event, here, sourceWords.length - 1);
  return place === null ? null : { source: strongestOf(state, sourceWords[place]) };
}

/** @type {Record<string, number>} */
const SOURCE_KEYS = { ArrowDown: 1, ArrowUp: -1 };

/** Clicks the next radio button of the heatmap's faces, where it has any: the server draws the face. */
function nextFace(/** @type {HTMLElement} */ root) {
  const faces = findAll(viewRoot(root), "[class*='st-key-face'] [role='radio']");
  const shown = faces.findIndex((face) => face.matches("[aria-checked='true'], :checked"));
  faces[(shown + 1) % faces.length]?.click();
}

/** Opens or closes the list of the keys. */
function toggleKeys(/** @type {HTMLElement} */ root) {
  findAll(viewRoot(root), ":is([class*='st-key-glossary'], [class*='st-key-keys']) > .opener")[0]?.click();
}

export function onPlayerKey(/** @type {KeyboardEvent} */ event, /** @type {PlayerState} */ state) {
  const { root } = state;
  if (viewRoot(root).hasAttribute("data-tour")) return; // the tour handles the keys
  if (!isForPage(event)) return;
  const step = stepForKey(event, state.step, state.alignment.length - 1);
  const by = SOURCE_KEYS[event.key], other = by ? { source: neighbour(state, by) } : null;
  const choice = sourceWordForKey(event, state) ?? (step === null ? other : { step });
  if (choice) send(root, "choose", choice);
  else if (isPlayKey(event)) state.player.toggle();
  else if (event.key === "?") toggleKeys(root);
  else if (event.key.toLowerCase() === "b" && !isLecture()) nextFace(root); // a remote's key for a black screen there
  else if (event.key === "Escape" && state.source !== null) send(root, "choose", { source: null });
  else return;
  event.preventDefault();
}

/** Removes the focus from the active element if it matches `selector`. */
function blur(/** @type {string} */ selector) {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.matches(selector)) activeElement.blur();
}

export function releaseFocus(/** @type {PointerEvent} */ event) {
  // A click on a blank spot focuses the whole page, and the next key would draw its focus ring.
  blur(".stMain");
  // After a mouse click on a radio group, the arrow keys are to step again. pointerup precedes click, after which the
  // group is redrawn: hence the timeout.
  const radio = "[role='radio'], [type='radio']";
  if (event.target instanceof Element && event.target.closest(`${radio}, label:has([type='radio'])`)) {
    setTimeout(() => blur(radio), 0);
  }
}
