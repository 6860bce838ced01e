// The sliders over the bars of weights: where they lie, what they say, and how the bars follow.

import { chartOf, CONFIG, find, keep, library, number, percent, states, widthOf, write } from "../shared.js";
import { weighIn } from "../view.js";

export const SLACK = 4; // pixels by which a slider begins left of its bar, and that a press may move and still be a click
const LOW = 0.02; // weight below which the end of a bar is not marked

/**
 * A weight as the picture tells it, in per cent where it has shares.
 * @param {Figure} figure
 * @param {number} weight
 * @param {number} [places]
 */
function toldWeight({ layout }, weight, places = 2) {
  return layout.meta.weights?.shares ? percent(weight) : number(weight, places);
}

/**
 * The figure with other weights: their bars, and the numbers at the ends of these where it has them.
 * @param {Figure} figure
 * @param {number[]} weights
 */
function withWeights(figure, weights) {
  const bars = figure.layout.meta.weights?.trace;
  return figure.data.map((trace, k) => {
    if (k === bars) return { ...trace, x: weights };
    if (trace.mode !== "text") return trace;
    return { ...trace, x: weights, text: weights.map((weight) => ` ${toldWeight(figure, weight)} `) };
  });
}

/**
 * Draws the weights on show, once for all that is pulled until the next frame.
 * @param {HTMLElement} root
 * @param {ChartState} state
 */
export function redraw(root, state) {
  const { hand } = state;
  if (!hand) return;
  tellBars(state, hand);
  if (hand.frame) return;
  hand.frame = requestAnimationFrame(async () => {
    hand.frame = 0;
    const Plotly = await library();
    if (!states.has(root) || state.hand !== hand) return;
    const chart = chartOf(root);
    weighIn(root, hand.now === hand.own ? null : hand.now);
    const data = hand.now === hand.own ? state.figure.data : withWeights(state.figure, hand.now);
    keep(state, Plotly.react(chart, data, { ...chart.layout, width: widthOf(chart, state) }, CONFIG));
  });
}

/**
 * What the sliders say of themselves, and where the ends of their bars are.
 * @param {ChartState} state
 * @param {Hand} hand
 */
function tellBars(state, { bars, now, unit, zero, grip }) {
  const { pieces, shares } = state.figure.layout.meta.weights ?? { pieces: [] };
  const sign = shares ? "" : "α = ";
  bars.forEach((bar, j) => {
    const weight = now[j];
    bar.setAttribute("aria-valuenow", weight.toFixed(4));
    bar.setAttribute("aria-valuetext", toldWeight(state.figure, weight));
    bar.style.setProperty("--end", `${zero + unit * weight}px`);
    bar.classList.toggle("low", weight < LOW);
    const told = bar.firstElementChild;
    if (!told) return;
    const pulled = grip?.piece === j;
    write(told, `${pulled ? "" : `${pieces[j]}  `}${sign}${toldWeight(state.figure, weight, pulled ? 2 : 4)}`);
  });
}

/**
 * Lays the sliders over their rows; those of a row that several share can not be pulled.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 */
export function lay(root, chart, state) {
  const { hand, places } = state, full = chart._fullLayout;
  const across = full?.[state.figure.layout.meta.weights?.axis ?? "xaxis"];
  if (!hand || !places || !full || !across) return;
  const { yaxis: down } = full;
  hand.unit = across.c2p(1) - across.c2p(0);
  hand.zero = across.c2p(0) + SLACK;
  const last = state.order === "strongest" ? state.figure.layout.meta.thinned?.rows : undefined;
  const height = down.c2p(1) - down.c2p(0);
  hand.bars.forEach((bar, j) => {
    bar.hidden = places[j] === last;
    Object.assign(bar.style, {
      left: `${across._offset - SLACK}px`,
      width: `${across._length + SLACK}px`,
      top: `${down._offset + down.c2p(places[j] - 0.5)}px`,
      height: `${height}px`,
    });
  });
  inRows(find(root, ".hands"), hand, places);
  tellBars(state, hand);
}

/**
 * Puts the sliders in the order of their rows, which Tab goes by; the one that has the focus keeps it.
 * @param {HTMLElement} layer
 * @param {Hand} hand
 * @param {number[]} places
 */
function inRows(layer, hand, places) {
  const wanted = hand.bars.toSorted((one, other) => places[hand.bars.indexOf(one)] - places[hand.bars.indexOf(other)]);
  if (wanted.every((bar, row) => layer.children[row] === bar)) return;
  const { activeElement } = document;
  hand.settling = true;
  layer.replaceChildren(...wanted);
  if (activeElement instanceof HTMLElement && wanted.includes(activeElement)) {
    activeElement.focus({ preventScroll: true });
  }
  hand.settling = false;
}

/**
 * The lengths of bars, which Python may have packed.
 * @param {unknown} lengths
 * @returns {ArrayLike<number>}
 */
export function unpackedBars(lengths) {
  const { bdata } = /** @type {{ bdata?: string }} */ (lengths);
  if (bdata === undefined) return /** @type {number[]} */ (lengths);
  return new Float32Array(Uint8Array.from(atob(bdata), (sign) => sign.charCodeAt(0)).buffer);
}
