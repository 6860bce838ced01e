// Clicks and hovering in a chart: finds the step, source piece or word of a point, reports what is hovered to the view,
// and highlights what is hovered anywhere in the view. Highlights are elements over the chart, since Plotly draws too
// slowly.

import { find, overlay } from "../shared.js";
import { sendPointed } from "../view.js";
import { axisOf, entryAt } from "./selection.js";

const ADDED = 1; // index of the trace with the contributions of words, in the figure of the context's units

/**
 * The choice that a click on a point makes, or null.
 * @param {Meta} meta
 * @param {Point} point
 * @returns {Choice | null}
 */
export function choiceAt({ steps, sources, order, entries, words, strip_pieces: strips }, point) {
  const { pointNumber: place } = point;
  if (strips && typeof place !== "number") {
    const source = entryAt(strips, place[0]);
    return source === null ? null : { source };
  }
  if (typeof place !== "number") {
    const step = entryAt(steps, place[0]), source = entryAt(sources, place[1]);
    return step === null ? null : { step, ...(source !== null && { source }) };
  }
  if (steps) {
    const step = entryAt(steps, place);
    return step === null ? null : { step };
  }
  if (order) return { source: place };
  if (entries) return entries.includes(point.y) ? { source: entries.indexOf(point.y) } : null;
  if (words) return { word: words[place] };
  return null;
}

/**
 * The source piece or step of a hovered point, or null.
 * @param {Chart} chart
 * @param {Point} point
 * @returns {Pointed | null}
 */
function pointedOf(chart, point) {
  const { lines } = chart.layout.meta, { pointNumber } = point;
  if (lines && point.curveNumber === ADDED && typeof pointNumber === "number") {
    const source = lines.indexOf(Math.floor(pointNumber / chart.layout.xaxis.tickvals.length));
    return source < 0 ? null : { source };
  }
  const chosen = choiceAt(chart.layout.meta, point);
  if (!chosen) return null;
  const { step, source } = chosen;
  if (step === undefined && typeof source !== "number") return null;
  return { ...(step !== undefined && { step }), ...(typeof source === "number" && { source }) };
}

/**
 * Highlights the hovered source piece or step.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 * @param {Pointed | null} pointed
 */
export function highlight(root, chart, state, pointed) {
  if (!chart._fullLayout?.xaxis || chart.layout.meta.panels || chart.layout.meta.tree) return;
  const { columns, rows } = chart.layout.meta, x = axisOf(chart, "x"), y = axisOf(chart, "y");
  /** @type {HTMLElement[]} */
  const highlights = [];
  const column = entryAt(columns, pointed?.source ?? null), row = entryAt(rows, pointed?.step ?? null);
  if (column !== null) {
    const [left, right] = [column - 0.5, column + 0.5].map((edge) => x._offset + x.c2p(edge));
    highlights.push(overlay("pointing source", { left, top: y._offset, width: right - left, height: y._length }));
  }
  if (row !== null) highlights.push(rowHighlight("step", x, y, row));
  const place = entryAt(state.places ?? undefined, pointed?.source ?? null);
  if (place !== null) {
    highlights.push(chart.layout.meta.upright ? columnHighlight(chart, place) : rowHighlight("source", x, y, place));
  }
  find(root, ".cursor").replaceChildren(...highlights);
}

/**
 * The column of a source piece, from the energies down to the weights.
 * @param {Chart} chart
 * @param {number} column
 */
function columnHighlight(chart, column) {
  const x = axisOf(chart, "x"), lower = axisOf(chart, "y"), { _offset: top } = axisOf(chart, "y2");
  const [left, right] = [column - 0.5, column + 0.5].map((edge) => x._offset + x.c2p(edge));
  return overlay("pointing source", { left, top, width: right - left, height: lower._offset + lower._length - top });
}

/**
 * @param {string} kind
 * @param {DrawnAxis} x
 * @param {DrawnAxis} y
 * @param {number} row
 */
function rowHighlight(kind, x, y, row) {
  const [top, bottom] = [row - 0.5, row + 0.5].map((edge) => y._offset + y.c2p(edge));
  return overlay(`pointing ${kind}`, { left: x._offset, top, width: x._length, height: bottom - top });
}

/**
 * Makes a chart report what is hovered in it.
 * @param {HTMLElement} root
 * @param {Chart} chart
 */
export function reportPointing(root, chart) {
  chart.on("plotly_hover", ({ points: [point] }) => {
    const pointed = pointedOf(chart, point);
    if (pointed) sendPointed(root, pointed);
  });
  chart.on("plotly_unhover", () => sendPointed(root, null));
}
