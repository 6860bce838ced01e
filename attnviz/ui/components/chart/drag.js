// Dragging the bars of weights, with the mouse or a finger; each is also a slider for the keyboard. The others follow at
// once, so that all still sum to 1; the server gets the weights at the end of the drag.

import { fill, find } from "../shared.js";
import { chooseIn, listenIn, pointAt, shown, tryIn } from "../view.js";
import { changed, moved } from "./changed_weights.js";
import { placeSliders, redraw, SLACK, unpackedBars } from "./sliders.js";

const FINE = 0.01; // change by an arrow key with Shift

/** @type {Record<string, number>} */
const KEY_CHANGES = {
  ArrowUp: 0.05,
  ArrowRight: 0.05,
  ArrowDown: -0.05,
  ArrowLeft: -0.05,
  PageUp: 0.2,
  PageDown: -0.2,
  Home: -1,
  End: 1,
};

/**
 * Attaches the sliders to the bars of a figure that has been drawn.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 */
export function attachSliders(root, chart, state) {
  const { weights } = state.figure.layout.meta, layer = find(root, ".hands");
  state.sliders?.grip?.end();
  if (!state.words || !weights || weights.pieces.length < 2) {
    state.sliders = undefined;
    layer.replaceChildren();
    return;
  }
  const own = Array.from(unpackedBars(state.figure.data[weights.trace].x));
  const bars = state.sliders?.bars.length === own.length
    ? state.sliders.bars
    : own.map((_, j) => sliderOf(root, state, j));
  state.sliders = { own, now: own, bars, unit: 1, zero: 0, frame: 0 };
  const { weight } = state.words;
  bars.forEach((bar, j) => bar.setAttribute("aria-label", fill(weight, { name: weights.pieces[j] })));
  placeSliders(root, chart, state);
}

/**
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 */
function sliderOf(root, state, piece) {
  const bar = document.createElement("div");
  bar.className = "hand";
  bar.tabIndex = 0;
  bar.append(document.createElement("output"));
  for (const [name, value] of [["role", "slider"], ["aria-valuemin", "0"], ["aria-valuemax", "1"]]) {
    bar.setAttribute(name, value);
  }
  bar.onpointerenter = () => pointAt(root, { source: piece });
  bar.onpointerleave = () => pointAt(root, null);
  bar.onpointerdown = (event) => onPointerDown(root, state, piece, event);
  bar.onkeydown = (event) => onKeyDown(root, state, piece, event);
  bar.onfocus = () => {
    if (!state.sliders?.settling) chooseIn(root, { source: piece });
  };
  bar.onblur = () => {
    if (!state.sliders?.settling) endDrag(root, state);
  };
  return bar;
}

/**
 * Begins the drag of a bar, unless it is already being dragged; `end` removes its listeners.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 * @param {() => void} [end]
 */
function beginDrag(root, state, piece, end = () => {}) {
  const { sliders } = state;
  if (!sliders || sliders.grip?.piece === piece) return sliders;
  endDrag(root, state);
  sliders.grip = { piece, before: sliders.now, pulled: false, end };
  return sliders;
}

/**
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} value
 */
function drag(root, state, value) {
  const { sliders } = state;
  if (!sliders?.grip) return;
  sliders.grip.pulled = true;
  sliders.now = moved(sliders.grip.before, sliders.grip.piece, value);
  redraw(root, state);
}

/**
 * Ends a drag: sends changed weights to the server, or restores the previous ones if `back`.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {boolean} [back]
 */
function endDrag(root, state, back) {
  const { sliders } = state, { step } = shown(root);
  if (!sliders?.grip) return;
  const { before, pulled, end } = sliders.grip;
  sliders.grip = undefined;
  end();
  if (back) sliders.now = before;
  else if (pulled && step !== null) {
    tryIn(root, { kind: "weights", step, weights: sliders.now, held: shown(root).held });
  }
  redraw(root, state);
}

/**
 * Starts a drag by the mouse or a finger; without a movement, the piece is chosen.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 * @param {PointerEvent} event
 */
function onPointerDown(root, state, piece, event) {
  const bar = state.sliders?.bars[piece];
  if (!bar || event.button !== 0 || !event.isPrimary) return;
  event.preventDefault(); // keeps the focus: the arrow keys are to step
  const listening = new AbortController(), { signal } = listening;
  endDrag(root, state);
  const sliders = beginDrag(root, state, piece, () => listening.abort());
  if (!sliders) return;
  const from = event.clientX, value = sliders.now[piece];
  bar.setPointerCapture(event.pointerId);
  bar.addEventListener("pointermove", ({ clientX }) => {
    if (sliders.grip?.pulled || Math.abs(clientX - from) >= SLACK) {
      drag(root, state, value + (clientX - from) / sliders.unit);
    }
  }, { signal });
  bar.addEventListener("pointerup", () => {
    if (!sliders.grip?.pulled) chooseIn(root, { source: piece });
    endDrag(root, state);
  }, { signal });
  bar.addEventListener("pointercancel", () => endDrag(root, state, true), { signal });
  document.addEventListener("keydown", (pressed) => {
    if (pressed.key !== "Escape") return;
    endDrag(root, state, true);
    pressed.preventDefault();
    pressed.stopPropagation();
  }, { signal, capture: true });
}

/**
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 * @param {KeyboardEvent} event
 */
function onKeyDown(root, state, piece, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const by = KEY_CHANGES[event.key], { sliders } = state;
  if (by !== undefined && sliders) {
    beginDrag(root, state, piece);
    drag(root, state, sliders.now[piece] + (event.shiftKey ? Math.sign(by) * FINE : by));
  } else if (event.key === "Enter") endDrag(root, state);
  else if (event.key === "Escape") {
    if (sliders?.grip) endDrag(root, state, true);
    else sliders?.bars[piece].blur();
  } else if (event.key !== " ") return;
  event.preventDefault();
}

/**
 * Shows what-ifs requested elsewhere in the view, and reverts those that the server rejects.
 * @param {HTMLElement} root
 * @param {ChartState} state
 */
export function followWhatIfs(root, state) {
  /** The translation of the what-if that is not answered yet. @type {string | undefined} */
  let asked;
  /** @param {WhatIf | null} change */
  const show = (change) => {
    const { sliders } = state;
    if (!sliders) return;
    sliders.now = change ? changed(sliders.own, change) : sliders.own;
    redraw(root, state);
  };
  const ends = [
    listenIn(root, "preview", ({ detail }) => show(detail)),
    listenIn(root, "try", ({ detail }) => {
      show(detail);
      asked = shown(root).view?.identity;
    }),
    listenIn(root, "answered", () => {
      if (asked !== undefined && asked === shown(root).view?.identity) show(null); // the what-if failed
      asked = undefined;
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
