// Figure of the energy of the current cell as a sum over hidden units. The payload has queries, keys and v_a of the
// whole sentence, so another cell needs no server.

import { component } from "../component.js";
import { OPERANDS_WIDTH } from "../../../figures/constants.js";
import {
  chartOf,
  fill,
  find,
  PLOTLY_CONFIG,
  plotlyLibrary,
  trackDrawing,
  watchWidth,
  widthOf,
  write,
} from "../shared.js";
import { viewState } from "../view.js";
import { captionOf, decomposition, fillFigure, operands } from "./decomposition.js";

/** @param {EnergyDecompositionState} state */
async function show(state) {
  const Plotly = await plotlyLibrary(), { root, signal, operands: data } = state;
  const { step, source: chosen } = viewState(root);
  if (step === null || signal.aborted) return;
  if (step >= data.targets.length) return; // of another translation, whose payload is still being fetched
  const source = Math.min(chosen ?? data.peaks[step], data.sources.length - 1);
  const chart = chartOf(root);
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
  write(find(root, "h3"), fill(data.words.heading, named));
  write(find(root, "p"), caption);
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", caption);
  chart.style.height = `${figure.layout.height}px`;
  await trackDrawing(state, Plotly.react(chart, figure.data, { ...figure.layout, width }, PLOTLY_CONFIG));
  if (state.resizing || signal.aborted) return;
  watchWidth(
    chart,
    state,
    (now) => (now >= OPERANDS_WIDTH) === state.wide ? Plotly.relayout(chart, { width: now }) : show(state),
  );
}

export default component(".energy-decomposition-box", {
  messages: ["step", "source"],
  isSlow: true,
  /** @param {EnergyDecompositionState} state */
  read: (state, payload) => Object.assign(state, { operands: operands(payload), drawn: undefined }),
  show,
});
