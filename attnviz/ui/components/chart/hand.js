// The hand on the bars of weights: the mouse or a finger pulls one, and each is a slider for the keyboard. The others follow
// at once, so that all still sum to 1; the server is told when the bar is let go of.

import { fill, find } from "../shared.js";
import { chooseIn, listenIn, pointAt, shown, tryIn } from "../view.js";
import { changed, moved } from "./looks.js";
import { lay, redraw, SLACK, unpackedBars } from "./sliders.js";

const FINE = 0.01; // what an arrow adds with Shift

/** @type {Record<string, number>} */
const PULLS = {
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
 * Another figure has been drawn: its bars are those to be pulled.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 */
export function takeHold(root, chart, state) {
  const { weights } = state.figure.layout.meta, layer = find(root, ".hands");
  state.hand?.grip?.end();
  if (!state.words || !weights || weights.pieces.length < 2) {
    state.hand = undefined;
    layer.replaceChildren();
    return;
  }
  const own = Array.from(unpackedBars(state.figure.data[weights.trace].x));
  const bars = state.hand?.bars.length === own.length ? state.hand.bars : own.map((_, j) => sliderOf(root, state, j));
  state.hand = { own, now: own, bars, unit: 1, zero: 0, frame: 0 };
  const { weight } = state.words;
  bars.forEach((bar, j) => bar.setAttribute("aria-label", fill(weight, { name: weights.pieces[j] })));
  lay(root, chart, state);
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
  bar.onpointerdown = (event) => grab(root, state, piece, event);
  bar.onkeydown = (event) => press(root, state, piece, event);
  bar.onfocus = () => {
    if (!state.hand?.settling) chooseIn(root, { source: piece });
  };
  bar.onblur = () => {
    if (!state.hand?.settling) letGoOf(root, state);
  };
  return bar;
}

/**
 * Has a bar in the hand, whose weights are those before it is pulled; `end` lets go of it.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 * @param {() => void} [end]
 */
function take(root, state, piece, end = () => {}) {
  const { hand } = state;
  if (!hand || hand.grip?.piece === piece) return hand;
  letGoOf(root, state);
  hand.grip = { piece, before: hand.now, pulled: false, end };
  return hand;
}

/**
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} value
 */
function pull(root, state, value) {
  const { hand } = state;
  if (!hand?.grip) return;
  hand.grip.pulled = true;
  hand.now = moved(hand.grip.before, hand.grip.piece, value);
  redraw(root, state);
}

/**
 * Lets go of the bar in the hand; where it was pulled, the server is told of the weights, unless they are taken `back`.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {boolean} [back]
 */
function letGoOf(root, state, back) {
  const { hand } = state, { step } = shown(root);
  if (!hand?.grip) return;
  const { before, pulled, end } = hand.grip;
  hand.grip = undefined;
  end();
  if (back) hand.now = before;
  else if (pulled && step !== null) {
    tryIn(root, { kind: "weights", step, weights: hand.now, held: shown(root).held });
  }
  redraw(root, state);
}

/**
 * The mouse or a finger on a bar: it is pulled as far as it moves; where it does not move, its piece is chosen.
 * @param {HTMLElement} root
 * @param {ChartState} state
 * @param {number} piece
 * @param {PointerEvent} event
 */
function grab(root, state, piece, event) {
  const bar = state.hand?.bars[piece];
  if (!bar || event.button !== 0 || !event.isPrimary) return;
  event.preventDefault(); // the focus stays where it is: the arrows are to step
  const hears = new AbortController(), { signal } = hears;
  letGoOf(root, state);
  const hand = take(root, state, piece, () => hears.abort());
  if (!hand) return;
  const from = event.clientX, value = hand.now[piece];
  bar.setPointerCapture(event.pointerId);
  bar.addEventListener("pointermove", ({ clientX }) => {
    if (hand.grip?.pulled || Math.abs(clientX - from) >= SLACK) pull(root, state, value + (clientX - from) / hand.unit);
  }, { signal });
  bar.addEventListener("pointerup", () => {
    if (!hand.grip?.pulled) chooseIn(root, { source: piece });
    letGoOf(root, state);
  }, { signal });
  bar.addEventListener("pointercancel", () => letGoOf(root, state, true), { signal });
  document.addEventListener("keydown", (pressed) => {
    if (pressed.key !== "Escape") return;
    letGoOf(root, state, true);
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
function press(root, state, piece, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const by = PULLS[event.key], { hand } = state;
  if (by !== undefined && hand) {
    take(root, state, piece);
    pull(root, state, hand.now[piece] + (event.shiftKey ? Math.sign(by) * FINE : by));
  } else if (event.key === "Enter") letGoOf(root, state);
  else if (event.key === "Escape") {
    if (hand?.grip) letGoOf(root, state, true);
    else hand?.bars[piece].blur();
  } else if (event.key !== " ") return;
  event.preventDefault();
}

/**
 * Shows what is tried elsewhere in the view, and takes back what the server does not answer.
 * @param {HTMLElement} root
 * @param {ChartState} state
 */
export function watchPerturbationTests(root, state) {
  /** The translation that something was tried on and is not answered yet. @type {string | undefined} */
  let asked;
  /** @param {WhatIf | null} change */
  const show = (change) => {
    const { hand } = state;
    if (!hand) return;
    hand.now = change ? changed(hand.own, change) : hand.own;
    redraw(root, state);
  };
  const ends = [
    listenIn(root, "preview", ({ detail }) => show(detail)),
    listenIn(root, "try", ({ detail }) => {
      show(detail);
      asked = shown(root).view?.identity;
    }),
    listenIn(root, "answered", () => {
      if (asked !== undefined && asked === shown(root).view?.identity) show(null); // nothing came of it
      asked = undefined;
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
