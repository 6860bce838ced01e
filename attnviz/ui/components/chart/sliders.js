// Positions and texts of the sliders over the bars of weights, and redrawing the bars while one is dragged (see
// drag.js).

import { bytesOf, drawFigure, find, findAll, makeOneTabStop, number, percent, states, write } from "../shared.js";
import { sendPreviewedWeights, viewState } from "../view.js";

export const SLACK = 4; // pixels by which a slider begins left of its bar, and that a press may move and still be a click
const LOW = 0.02; // weight below which the end of a bar is not marked

/** The text of a weight as in the figure: where that shows shares, a whole percentage.
 * @param {Figure} figure @param {number} weight @param {number} [places] */
function weightText({ layout }, weight, places = 2) {
  return layout.meta.weights?.shares ? percent(weight) : number(weight, places);
}

/** A figure with other weights in their bars, in the numbers next to these, and in the strips of their mixture.
 * @param {Figure} figure
 * @param {Layout} layout as it is drawn
 * @param {number[]} weights @returns {Figure} */
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
  const order = weights.map((_, j) => j).sort((one, other) => weights[other] - weights[one] || one - other);
  /** @type {(pieces: number[]) => number[]} */
  const sum = (pieces) =>
    Array.from(values[0], (_, k) => pieces.reduce((total, j) => total + weights[j] * values[j][k], 0));
  const rest = order.slice(own);
  const rows = [...order.slice(0, own).map((j) => [j]), ...(rest.length ? [rest] : []), order].map(sum);
  const labels = order.slice(0, own).map((j) => `${percent(weights[j])} × ${names[j]}`);
  if (rest.length) labels.push(`${percent(rest.reduce((total, j) => total + weights[j], 0))} × ${more}`);
  return {
    strips: { z: rows, text: rows.map((row) => row.map((value) => number(value, 2))) },
    /** @type {(layout: Layout) => Layout} */
    labelled: (layout) => {
      const { yaxis3: axis, annotations } = layout;
      if (!axis) return layout;
      const ticktext = [...labels, ...axis.ticktext.slice(-1)];
      // The sentence about the step's own weights is the last one.
      const own = annotations?.map((one, k) => k === annotations.length - 1 ? { ...one, text: "" } : one);
      return { ...layout, yaxis3: { ...axis, ticktext }, annotations: own };
    },
  };
}

/** Draws the weights shown, at most once per animation frame. @param {ChartState} state */
export function redraw(state) {
  const { root, chart, sliders } = state;
  if (!sliders) return;
  describeSliders(state, sliders);
  if (sliders.frame) return;
  sliders.frame = requestAnimationFrame(() => {
    sliders.frame = 0;
    if (!states.has(root) || state.sliders !== sliders) return;
    sendPreviewedWeights(root, sliders.shownWeights === sliders.stepWeights ? null : sliders.shownWeights);
    const { shapes } = chart.layout, own = { ...state.figure.layout, shapes };
    const { data, layout } = sliders.shownWeights === sliders.stepWeights
      ? { data: state.figure.data, layout: own }
      : withWeights(state.figure, own, sliders.shownWeights);
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

/** Places the sliders over their rows; pieces that share a row cannot be dragged. @param {ChartState} state */
export function placeSliders(state) {
  const { root, chart, sliders, places } = state, full = chart._fullLayout;
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
    Object.assign(
      bar.style,
      upright
        ? { left: place, width: breadth, top: `${along._offset}px`, height: length }
        : { left: `${along._offset - SLACK}px`, width: length, top: place, height: breadth },
    );
  });
  sortByRow(find(root, ".hands"), sliders, places);
  describeSliders(state, sliders);
}

/** Makes the sliders one tab stop: the focused one, or that of the current source piece. @param {ChartState} state */
export function markTabStop({ root, sliders }) {
  if (!sliders) return;
  const shown = findAll(root, ".hand:not([hidden])"), current = sliders.bars[viewState(root).source ?? 0];
  const focused = shown.find((bar) => bar.matches(":focus"));
  makeOneTabStop(sliders.bars, focused ?? (current && !current.hidden ? current : shown[0]));
}

/** Sorts the sliders by row, for the tab order; the focus stays where it is.
 * @param {HTMLElement} layer @param {Sliders} sliders @param {number[]} places */
function sortByRow(layer, sliders, places) {
  const wanted = sliders.bars.toSorted((one, other) =>
    places[sliders.bars.indexOf(one)] - places[sliders.bars.indexOf(other)]
  );
  if (wanted.every((bar, row) => layer.children[row] === bar)) return;
  const focused = wanted.find((bar) => bar.matches(":focus"));
  sliders.reordering = true;
  layer.replaceChildren(...wanted);
  focused?.focus({ preventScroll: true });
  sliders.reordering = false;
}

/** The lengths of bars, unpacked where Plotly's Python library has encoded them.
 * @param {unknown} lengths @returns {ArrayLike<number>} */
export function unpackedBars(lengths) {
  const { bdata } = /** @type {{ bdata?: string }} */ (lengths);
  if (bdata === undefined) return /** @type {number[]} */ (lengths);
  return new Float32Array(bytesOf(bdata).buffer);
}
