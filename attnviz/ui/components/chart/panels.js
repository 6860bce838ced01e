// The shared cursor of a chart with several heatmaps of the same rows and columns: it frames the cell under the pointer
// in all of them. The frames are elements over the chart, since Plotly takes a tenth of a second to draw them.

import { find, number } from "../shared.js";
import { cellOn, overlayOn } from "./pointing.js";
import { axisOf } from "./selection.js";

/** The value of a cell in the panel of an axis, in its own unit; null where it has none.
 * @param {Chart} chart @param {string} xaxis @param {number} row @param {number} column */
function numberAt(chart, xaxis, row, column) {
  /** @type {any} */
  const panel = chart._fullData?.find((trace) => trace.type === "heatmap" && trace.xaxis === xaxis);
  const value = (panel?.customdata ?? panel?.z)?.[row]?.[column];
  return Number.isFinite(value) ? value : null; // NaN in a masked cell
}

/** Frames a cell in every panel, with its number there.
 * @param {ChartState} state @param {number} row @param {number} column */
function frameCell({ root, chart }, row, column) {
  const { panels, beside } = chart.layout.meta;
  const frames = Object.values(panels ?? {}).map(({ xaxis, yaxis }) => {
    const x = axisOf(chart, xaxis), frame = overlayOn("", cellOn(x, column), cellOn(axisOf(chart, yaxis), row));
    const value = numberAt(chart, xaxis, row, column);
    if (value !== null) frame.dataset.number = number(value, 2);
    frame.dataset.panel = xaxis;
    frame.classList.toggle("before", x.c2p(column) > x._length / 2);
    return frame;
  });
  const lines = (beside ?? []).map(({ xaxis, yaxis }) =>
    overlayOn("", axisOf(chart, xaxis), cellOn(axisOf(chart, yaxis), row))
  );
  find(root, ".cursor").replaceChildren(...frames, ...lines);
}

/** Listens to the pointer over a chart of several panels. @param {ChartState} state */
export function linkPanels(state) {
  const { root, chart } = state;
  chart.on("plotly_hover", ({ points: [point] }) => {
    const { pointNumber: place } = point;
    if (typeof place === "number") return;
    frameCell(state, place[0], place[1]);
    const panel = chart._fullData?.[point.curveNumber].xaxis;
    root.querySelector(`.cursor [data-panel="${panel}"]`)?.classList.add("pointed");
  });
  chart.on("plotly_unhover", () => find(root, ".cursor").replaceChildren());
}
