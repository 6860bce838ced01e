// Sliders over the bars of attention weights, for mouse, finger and keyboard. The other weights change along, so that all
// still sum to 1; the server gets the weights at the end of the drag. Beside the bar that is dragged is shown what its
// weights would do.

import { changedWords, element, find, states, write } from "../elements.js";
import { makeOneTabStop, onEscape } from "../keyboard.js";
import { bytesOf, fill, number, percent } from "../numbers.js";
import { fetchJson } from "../payloads.js";
import { drawFigure } from "../plots.js";
import { intervene, onMessage, send, sendPointed, sendPreviewedWeights, viewState } from "../view.js";
import { changedWeights, strongestFirst, sumRows, weightedSum, withShare } from "./weights.js";

const SLACK = 4; // pixels by which a slider begins left of its bar, and that a press may move and still be a click
const LOW = 0.02; // weight below which the end of a bar is not marked

/** The text of a weight as in the figure: where that shows shares, a whole percentage.
 * @param {Figure} figure @param {number} weight @param {number} [places] */
function weightText({ layout }, weight, places = 2) {
  return layout.meta.weights?.shares ? percent(weight) : number(weight, places);
}

/** A figure with other weights in their bars, in the numbers next to these, and in the strips of their mixture.
 * @param {Figure} figure @param {Layout} layout as it is drawn @param {number[]} weights @returns {Figure} */
function withWeights(figure, layout, weights) {
  const { weights: bars, mixture, upright } = figure.layout.meta, along = upright ? "y" : "x";
  const least = upright ? LOW : 0, mixed = mixture && mixtureOf(figure, mixture, weights);
  const data = figure.data.map((trace, k) => {
    if (k === bars?.trace) return { ...trace, [along]: weights };
    if (mixed && k === mixture.trace) return { ...trace, ...mixed.strips };
    if (k !== Number(bars?.trace) + 1 || trace.mode !== "text") return trace;
    const text = weights.map((weight) => weight < least ? "" : ` ${weightText(figure, weight)} `);
    return { ...trace, [along]: weights, text };
  });
  return { data, layout: mixed ? mixed.labelled(layout) : layout };
}

/** The strips of the sum with `weights`, and a function that writes their labels into the layout.
 * @param {Figure} figure @param {NonNullable<Meta["mixture"]>} mixture @param {number[]} weights */
function mixtureOf(figure, { values, names, more }, weights) {
  const own = figure.layout.meta.strip_pieces?.filter((piece) => piece !== null).length ?? 0;
  const order = strongestFirst(weights), rows = sumRows(weights, values, order, own);
  const labels = rows.map(({ pieces: [j], weight }, k) => `${percent(weight)} × ${k < own ? names[j] : more}`);
  const strips = [...rows, weightedSum(weights, values, order)].map(({ strip }) => strip);
  return {
    strips: { z: strips, text: strips.map((strip) => strip.map((value) => number(value, 2))) },
    labelled: (/** @type {Layout} */ layout) => {
      const { yaxis3: axis, annotations } = layout;
      if (!axis) return layout;
      const ticktext = [...labels, ...axis.ticktext.slice(-1)];
      // The sentence about the step's own weights is the last one.
      const own = annotations?.map((one, k) => k === annotations.length - 1 ? { ...one, text: "" } : one);
      return { ...layout, yaxis3: { ...axis, ticktext }, annotations: own };
    },
  };
}

/** Draws the weights shown, at most once per animation frame. */
function redraw(/** @type {ChartState} */ state) {
  const { root, chart, sliders } = state;
  if (!sliders) return;
  describeSliders(state, sliders);
  if (sliders.frame) return;
  sliders.frame = requestAnimationFrame(() => {
    sliders.frame = 0;
    if (!states.has(root) || state.sliders !== sliders) return;
    const { figure } = state, { shownWeights: weights } = sliders, isOwn = weights === sliders.stepWeights;
    sendPreviewedWeights(root, isOwn ? null : weights);
    const own = { ...figure.layout, shapes: chart.layout.shapes };
    const { data, layout } = isOwn ? { ...figure, layout: own } : withWeights(figure, own, weights);
    drawFigure(state, data, layout);
  });
}

/** Sets values and texts of the sliders, and the positions of the ends of their bars.
 * @param {ChartState} state @param {Sliders} sliders */
function describeSliders(state, { bars, shownWeights, unit, zero, drag }) {
  const { pieces, shares } = state.figure.layout.meta.weights ?? { pieces: [] };
  const sign = shares ? "" : "α = ";
  bars.forEach((bar, j) => {
    const weight = shownWeights[j], ariaValueText = weightText(state.figure, weight);
    Object.assign(bar, { ariaValueNow: weight.toFixed(4), ariaValueText });
    bar.style.setProperty("--end", `${zero + unit * weight}px`);
    bar.classList.toggle("low", weight < LOW);
    const output = bar.firstElementChild;
    if (!output) return;
    const dragged = drag?.piece === j;
    write(output, `${dragged ? "" : `${pieces[j]}  `}${sign}${weightText(state.figure, weight, dragged ? 2 : 4)}`);
  });
}

/** Places the sliders over their rows; pieces that share a row cannot be dragged. */
export function placeSliders(/** @type {ChartState} */ state) {
  const { chart, sliders, places } = state, full = chart._fullLayout;
  const { upright, thinned, weights } = state.figure.layout.meta;
  const along = full?.[weights?.axis ?? "xaxis"];
  if (!sliders || !places || !full || !along) return;
  const beside = upright ? full.xaxis : full.yaxis;
  sliders.unit = Math.abs(along.c2p(1) - along.c2p(0));
  sliders.zero = (upright ? along._length - along.c2p(0) : along.c2p(0)) + SLACK;
  const last = state.order === "strongest" && !upright ? thinned?.rows : undefined;
  const breadth = `${beside.c2p(1) - beside.c2p(0)}px`, length = `${along._length + SLACK}px`;
  sliders.bars.forEach((bar, j) => {
    const place = `${beside._offset + beside.c2p(places[j] - 0.5)}px`;
    bar.hidden = places[j] === last;
    bar.classList.toggle("late", 2 * j > sliders.bars.length);
    const box = upright
      ? { left: place, width: breadth, top: `${along._offset}px`, height: length }
      : { left: `${along._offset - SLACK}px`, width: length, top: place, height: breadth };
    Object.assign(bar.style, box);
  });
  describeSliders(state, sliders);
}

/** The sliders that are shown, in the order of their rows. */
function shownSliders(/** @type {ChartState} */ { sliders, places }) {
  const rows = (sliders?.bars ?? []).map((bar, j) => ({ bar, row: places?.[j] ?? j })).filter(({ bar }) => !bar.hidden);
  return rows.sort((one, other) => one.row - other.row).map(({ bar }) => bar);
}

/** Makes the sliders one tab stop: the focused one, or that of the current source piece. */
export function markTabStop(/** @type {ChartState} */ state) {
  const { root, sliders } = state;
  if (!sliders) return;
  const shown = shownSliders(state), current = sliders.bars[viewState(root).source ?? 0];
  const focused = shown.find((bar) => bar.matches(":focus"));
  makeOneTabStop(sliders.bars, focused ?? (current && !current.hidden ? current : shown[0]));
}

/** The lengths of bars, unpacked where Plotly's Python library has encoded them.
 * @param {unknown} lengths @returns {ArrayLike<number>} */
function unpackedBars(lengths) {
  const { bdata } = /** @type {{ bdata?: string }} */ (lengths);
  if (bdata === undefined) return /** @type {number[]} */ (lengths);
  return new Float32Array(bytesOf(bdata).buffer);
}

const FINE = 0.01; // change by an arrow key with Shift

/** @type {Record<string, number>} */
const KEY_CHANGES = { PageUp: 0.2, PageDown: -0.2, Home: -1, End: 1 };

/** What an arrow key changes, or to which slider it goes, where they stand beside or above each other.
 * @type {Record<"upright" | "level", { change: Record<string, number>, go: Record<string, number> }>} */
const ARROWS = {
  upright: { change: { ArrowUp: 0.05, ArrowDown: -0.05 }, go: { ArrowLeft: -1, ArrowRight: 1 } },
  level: { change: { ArrowRight: 0.05, ArrowLeft: -0.05 }, go: { ArrowUp: -1, ArrowDown: 1 } },
};

/** Whether the bars are upright. */
const isUpright = (/** @type {ChartState} */ state) => Boolean(state.figure.layout.meta.upright);

/** Attaches the sliders to the bars of a figure that has been drawn. */
export function attachSliders(/** @type {ChartState} */ state) {
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
  const known = state.sliders?.bars;
  const bars = known?.length === stepWeights.length ? known : stepWeights.map((_, j) => newSlider(state, j));
  if (bars !== known) layer.replaceChildren(...bars);
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

function newSlider(/** @type {ChartState} */ state, /** @type {number} */ piece) {
  const { root } = state, range = { tabIndex: -1, role: "slider", ariaValueMin: "0", ariaValueMax: "1" };
  const bar = element("div", "hand", range, element("output", ""));
  bar.onpointerenter = () => sendPointed(root, { source: piece });
  bar.onpointerleave = () => sendPointed(root, null);
  bar.onpointerdown = (event) => onPointerDown(state, piece, event);
  bar.onkeydown = (event) => onKeyDown(state, piece, event);
  bar.onfocus = () => send(root, "choose", { source: piece });
  bar.onblur = () => endDrag(state);
  return bar;
}

/** Hides what the dragged weights would do, and asks for no more. */
function hideConsequence(/** @type {ChartState} */ { root, sliders }) {
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

function drag(/** @type {ChartState} */ state, /** @type {number} */ value) {
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
  const { root, sliders } = state;
  if (!sliders?.drag) return;
  const { startWeights, hasMoved, end } = sliders.drag;
  sliders.drag = undefined;
  end();
  hideConsequence(state);
  if (back) sliders.shownWeights = startWeights;
  else if (hasMoved) intervene(root, (step) => ({ kind: "weights", weights: sliders.shownWeights, step }));
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
  /** Pixels in the direction of a larger weight. */
  const place = (/** @type {PointerEvent} */ { clientX, clientY }) => isUpright(state) ? -clientY : clientX;
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
    const shown = shownSliders(state);
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

/** Shows what-ifs requested elsewhere in the view, and reverts those that the server rejects. */
export function followWhatIfs(/** @type {ChartState} */ state) {
  const { root, signal } = state;
  /** The translation of the what-if that is not answered yet. @type {string | undefined} */
  let requestedIdentity;
  const show = (/** @type {Intervention | Unfinished | null} */ intervention) => {
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

const REST = 16; // milliseconds without a movement, after which the hand rests
const GAP = 6; // pixels between the bar and the box below it
const ABOVE = 30; // pixels between the bar and the box above it, for the number there

/** Requests what the weights shown would do, once the hand rests; of several requests the last one is shown. */
function requestConsequence(/** @type {ChartState} */ state) {
  const { root, consequenceAddress, sliders } = state, { step, held } = viewState(root);
  if (!sliders?.drag || step === null) return;
  clearTimeout(sliders.rest);
  find(root, ".consequence").classList.add("stale");
  sliders.rest = setTimeout(async () => {
    const weights = sliders.shownWeights;
    const whatIf = { intervention: { kind: "weights", weights: Array.from(weights), step }, held };
    const query = new URLSearchParams({ what_if: JSON.stringify(whatIf) });
    const wanted = () => states.has(root) && state.sliders === sliders && sliders.shownWeights === weights;
    const consequence = await fetchJson(`${consequenceAddress}&${query}`, true, wanted);
    if (consequence && sliders.drag && wanted()) {
      showConsequence(root, sliders.bars[sliders.drag.piece], consequence, state.words?.outdated ?? "");
    }
  }, REST);
}

/** @param {HTMLElement} root @param {HTMLElement} bar @param {Consequence} consequence
 * @param {string} outdated what the rest of the page still shows */
function showConsequence(root, bar, { probability, words }, outdated) {
  const box = find(root, ".consequence"), translation = find(box, ".translation");
  write(find(box, ".probability"), probability);
  translation.replaceChildren(...changedWords(words));
  translation.hidden = words.length === 0;
  write(find(box, ".outdated"), outdated);
  box.hidden = false;
  box.classList.remove("stale");
  // Below upright bars is their mixture.
  const { offsetTop, offsetHeight } = bar,
    fits = !bar.matches(".upright") && bar.getBoundingClientRect().bottom + GAP + box.offsetHeight < innerHeight;
  box.style.top = `${fits ? offsetTop + offsetHeight + GAP : offsetTop - ABOVE - box.offsetHeight}px`;
}
