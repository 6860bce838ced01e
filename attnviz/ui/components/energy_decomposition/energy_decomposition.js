// Figure of the energy of the current cell as a sum over hidden units. The payload has queries, keys and v_a of the
// whole sentence, so another cell needs no server.

import { component } from "../component.js";
import { OPERANDS_WIDTH } from "../../../figures/constants.js";
import { changeLayout, chartOf, drawFigure, fill, find, watchWidth, widthOf, write } from "../shared.js";
import { viewState } from "../view.js";
import { captionOf, decomposition, fillFigure, operands } from "./decomposition.js";

/** @param {EnergyDecompositionState} state */
async function show(state) {
  const { root, chart, signal, operands: data } = state;
  const { step, source: chosen } = viewState(root);
  if (step === null || signal.aborted) return;
  if (step >= data.targets.length) return; // of another translation, whose payload is still being fetched
  const source = Math.min(chosen ?? data.peaks[step], data.sources.length - 1);
  const wide = widthOf(state) >= OPERANDS_WIDTH;
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
  chart.setAttribute("aria-label", caption);
  chart.style.height = `${figure.layout.height}px`;
  await drawFigure(state, figure.data, figure.layout);
  if (state.watched || signal.aborted) return;
  watchWidth(state, (width) => (width >= OPERANDS_WIDTH) === state.wide ? changeLayout(state, { width }) : show(state));
}

export default component(".energy-decomposition-box", {
  isSlow: true,
  begin: ({ root }) => ({ chart: chartOf(root) }),
  /** @param {EnergyDecompositionState} state */
  read: (state, payload) => Object.assign(state, { operands: operands(payload), drawn: undefined }),
  show,
});
