// Figure of the energy of the current cell as a sum over hidden units. The payload has queries, keys and v_a of the
// whole sentence, so another cell needs no server.

import { OPERANDS_WIDTH } from "../../../figures/constants.js";
import { payloadOf } from "../payloads.js";
import {
  chartOf,
  drawSoon,
  fill,
  find,
  onMessages,
  PLOTLY_CONFIG,
  plotlyLibrary,
  setLanguage,
  states,
  trackDrawing,
  watchWidth,
  widthOf,
} from "../shared.js";
import { viewState } from "../view.js";
import { captionOf, decomposition, fillFigure, operands } from "./decomposition.js";

/**
 * @param {HTMLElement} box
 * @param {EnergyDecompositionState} state
 */
async function draw(box, state) {
  const Plotly = await plotlyLibrary();
  const payload = payloadOf(box, state, draw);
  if (!payload) return;
  setLanguage(payload.language);
  if (payload !== state.payload) Object.assign(state, { payload, operands: operands(payload), drawn: undefined });
  const data = state.operands;
  const { step, source: chosen } = viewState(box);
  if (step === null || !states.has(box)) return;
  if (step >= data.targets.length) return; // of another translation, whose payload is still being fetched
  const source = Math.min(chosen ?? data.peaks[step], data.sources.length - 1);
  const chart = chartOf(box);
  const width = widthOf(chart, state);
  const wide = width >= OPERANDS_WIDTH;
  const drawn = [wide, step, source].join();
  if (drawn === state.drawn) return;
  Object.assign(state, { drawn, wide });
  const cell = decomposition(data, step, source);
  const figure = JSON.parse(wide ? data.wide : data.narrow);
  fillFigure(figure, cell, data);
  const caption = captionOf(cell, data, step, source);
  const named = { i: step + 1, target: data.targets[step], word: data.sources[source] };
  find(box, "h3").textContent = fill(data.words.heading, named);
  find(box, "p").textContent = caption;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", caption);
  chart.style.height = `${figure.layout.height}px`;
  await trackDrawing(state, Plotly.react(chart, figure.data, { ...figure.layout, width }, PLOTLY_CONFIG));
  if (!state.resizing && states.has(box)) listen(Plotly, box, chart, state);
}

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} box
 * @param {Chart} chart
 * @param {EnergyDecompositionState} state
 */
function listen(Plotly, box, chart, state) {
  watchWidth(
    chart,
    state,
    (width) => (width >= OPERANDS_WIDTH) === state.wide ? Plotly.relayout(chart, { width }) : draw(box, state),
  );
}

/**
 * @param {HTMLElement} box
 * @returns {EnergyDecompositionState}
 */
function start(box) {
  const state =
    /** @type {EnergyDecompositionState} */ (/** @type {Partial<EnergyDecompositionState>} */ ({ isSlow: true }));
  return onMessages(box, state, ["step", "source"], () => drawSoon(box, state, draw));
}

/** @param {Mounted<EnergyDecompositionPayload | PayloadAddress>} mounted */
export default function ({ data, parentElement }) {
  const box = find(parentElement, ".energy-decomposition-box");
  /** @type {EnergyDecompositionState} */
  const state = states.get(box) ?? start(box);
  state.data = data;
  drawSoon(box, state, draw);
  return state.stop;
}
