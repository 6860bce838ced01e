// Sliders over the bars of attention weights, for mouse, finger and keyboard. The other weights change along, so that
// all still sum to 1; the server gets the weights at the end of the drag.

import { element, fill, find, findAll, onEscape } from "../shared.js";
import { onMessage, send, sendPointed, sendPreviewedWeights, viewState } from "../view.js";
import { changedWeights, withShare } from "./changed_weights.js";
import { requestConsequence } from "./consequence.js";
import { placeSliders, redraw, SLACK, unpackedBars } from "./sliders.js";

const FINE = 0.01; // change by an arrow key with Shift

/** @type {Record<string, number>} */
const KEY_CHANGES = { PageUp: 0.2, PageDown: -0.2, Home: -1, End: 1 };

/** What an arrow key changes, or to which slider it goes, where they stand beside or above each other.
 * @type {Record<"upright" | "level", { change: Record<string, number>, go: Record<string, number> }>} */
const ARROWS = {
  upright: { change: { ArrowUp: 0.05, ArrowDown: -0.05 }, go: { ArrowLeft: -1, ArrowRight: 1 } },
  level: { change: { ArrowRight: 0.05, ArrowLeft: -0.05 }, go: { ArrowUp: -1, ArrowDown: 1 } },
};

/** Whether the bars are upright. @param {ChartState} state */
const isUpright = (state) => Boolean(state.figure.layout.meta.upright);

/** Attaches the sliders to the bars of a figure that has been drawn. @param {ChartState} state */
export function attachSliders(state) {
  const { root } = state, { weights } = state.figure.layout.meta, layer = find(root, ".hands");
  state.sliders?.drag?.end();
  if (state.sliders) sendPreviewedWeights(root, null);
  hideConsequence(state);
  if (!state.words || !weights || weights.pieces.length < 2) {
    state.sliders = undefined;
    layer.replaceChildren();
    return;
  }
  const upright = isUpright(state), { x, y } = state.figure.data[weights.trace];
  const stepWeights = Array.from(unpackedBars(upright ? y : x));
  const bars = state.sliders?.bars.length === stepWeights.length
    ? state.sliders.bars
    : stepWeights.map((_, j) => newSlider(state, j));
  state.sliders = { stepWeights, shownWeights: stepWeights, bars, unit: 1, zero: 0, frame: 0 };
  const { weight, keys: levelKeys, uprightKeys } = state.words, keys = upright ? uprightKeys : levelKeys;
  bars.forEach((bar, j) => {
    const ariaLabel = fill(weight, { name: weights.pieces[j] });
    Object.assign(bar, { ariaLabel, ariaOrientation: upright ? "vertical" : "horizontal" });
    bar.classList.toggle("upright", upright);
  });
  Object.assign(layer, { role: "group", ariaLabel: state.words.weights, ariaDescription: keys });
  placeSliders(state);
}

/** @param {ChartState} state @param {number} piece */
function newSlider(state, piece) {
  const { root } = state, range = { tabIndex: -1, role: "slider", ariaValueMin: "0", ariaValueMax: "1" };
  const bar = element("div", "hand", range, element("output", ""));
  bar.onpointerenter = () => sendPointed(root, { source: piece });
  bar.onpointerleave = () => sendPointed(root, null);
  bar.onpointerdown = (event) => onPointerDown(state, piece, event);
  bar.onkeydown = (event) => onKeyDown(state, piece, event);
  bar.onfocus = () => {
    if (!state.sliders?.reordering) send(root, "choose", { source: piece });
  };
  bar.onblur = () => {
    if (!state.sliders?.reordering) endDrag(state);
  };
  return bar;
}

/** Hides what the dragged weights would do, and asks for no more (consequence.js). @param {ChartState} state */
function hideConsequence({ root, sliders }) {
  clearTimeout(sliders?.rest);
  find(root, ".consequence").hidden = true;
}

/** Begins the drag of a bar, unless it is already being dragged; `end` removes its listeners.
 * @param {ChartState} state @param {number} piece @param {() => void} [end] */
function beginDrag(state, piece, end = () => {}) {
  const { sliders } = state;
  if (!sliders || sliders.drag?.piece === piece) return sliders;
  endDrag(state);
  sliders.drag = { piece, startWeights: sliders.shownWeights, hasMoved: false, end };
  return sliders;
}

/** @param {ChartState} state @param {number} value */
function drag(state, value) {
  const { sliders } = state;
  if (!sliders?.drag) return;
  sliders.drag.hasMoved = true;
  sliders.shownWeights = withShare(sliders.drag.startWeights, sliders.drag.piece, value);
  redraw(state);
  if (state.consequenceAddress) requestConsequence(state);
}

/** Ends a drag: sends changed weights to the server, or restores the previous ones if `back`.
 * @param {ChartState} state @param {boolean} [back] */
function endDrag(state, back) {
  const { root, sliders } = state, { step } = viewState(root);
  if (!sliders?.drag) return;
  const { startWeights, hasMoved, end } = sliders.drag;
  sliders.drag = undefined;
  end();
  hideConsequence(state);
  if (back) sliders.shownWeights = startWeights;
  else if (hasMoved && step !== null) {
    const intervention = /** @type {const} */ ({ kind: "weights", weights: sliders.shownWeights, step });
    send(root, "try", { intervention, held: viewState(root).held });
  }
  redraw(state);
}

/** Starts a drag by the mouse or a finger; without a movement, the piece is chosen.
 * @param {ChartState} state @param {number} piece @param {PointerEvent} event */
function onPointerDown(state, piece, event) {
  const { root } = state, bar = state.sliders?.bars[piece];
  if (!bar || event.button !== 0 || !event.isPrimary) return;
  event.preventDefault(); // keeps the focus: the arrow keys are to step
  const listening = new AbortController(), { signal } = listening;
  endDrag(state);
  const sliders = beginDrag(state, piece, () => listening.abort());
  if (!sliders) return;
  /** Pixels in the direction of a larger weight. @param {PointerEvent} at */
  const place = ({ clientX, clientY }) => isUpright(state) ? -clientY : clientX;
  const from = place(event), value = sliders.shownWeights[piece];
  bar.setPointerCapture(event.pointerId);
  bar.addEventListener("pointermove", (moved) => {
    const by = place(moved) - from;
    if (sliders.drag?.hasMoved || Math.abs(by) >= SLACK) drag(state, value + by / sliders.unit);
  }, { signal });
  bar.addEventListener("pointerup", () => {
    if (!sliders.drag?.hasMoved) send(root, "choose", { source: piece });
    endDrag(state);
  }, { signal });
  bar.addEventListener("pointercancel", () => endDrag(state, true), { signal });
  onEscape(() => endDrag(state, true), signal);
}

/** @param {ChartState} state @param {number} piece @param {KeyboardEvent} event */
function onKeyDown(state, piece, event) {
  const { root } = state;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { sliders } = state, arrows = ARROWS[isUpright(state) ? "upright" : "level"];
  const by = KEY_CHANGES[event.key] ?? arrows.change[event.key], way = arrows.go[event.key];
  if (by !== undefined && sliders) {
    beginDrag(state, piece);
    drag(state, sliders.shownWeights[piece] + (event.shiftKey ? Math.sign(by) * FINE : by));
  } else if (way) {
    const shown = findAll(root, ".hand:not([hidden])");
    shown[shown.findIndex((bar) => bar.matches(":focus")) + way]?.focus();
  } else if (event.key === "Enter") endDrag(state);
  else if (event.key === "Escape") {
    if (sliders?.drag) endDrag(state, true);
    else {
      sliders?.bars[piece].blur();
      send(root, "choose", { source: null });
    }
  } else if (event.key !== " ") return;
  event.preventDefault();
}

/** Shows what-ifs requested elsewhere in the view, and reverts those that the server rejects.
 * @param {ChartState} state */
export function followWhatIfs(state) {
  const { root, signal } = state;
  /** The translation of the what-if that is not answered yet. @type {string | undefined} */
  let requestedIdentity;
  /** @param {Intervention | Unfinished | null} intervention */
  const show = (intervention) => {
    const { sliders } = state;
    if (!sliders) return;
    sliders.shownWeights = intervention ? changedWeights(sliders.stepWeights, intervention) : sliders.stepWeights;
    redraw(state);
  };
  onMessage(root, "preview", ({ detail }) => show(detail), signal);
  onMessage(root, "try", ({ detail }) => {
    show("intervention" in detail ? detail.intervention : null);
    requestedIdentity = viewState(root).view?.identity;
  }, signal);
  onMessage(root, "answered", () => {
    if (requestedIdentity !== undefined && requestedIdentity === viewState(root).view?.identity) show(null); // the what-if failed
    requestedIdentity = undefined;
  }, signal);
}
