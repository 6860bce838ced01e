// What is pointed at: a chart says which source piece or step lies under the mouse, and lights the column or row of what is
// pointed at anywhere in the view. The light is the page's own element over the chart, as the cursor of several panels is.

import { find } from "../shared.js";
import { pointAt } from "../view.js";
import { at } from "./marks.js";
import { axisOf } from "./panels.js";

const ADDED = 1; // of the traces of the context's units, the bars that words add, line by line

/**
 * What a click on a point chooses, or null.
 * @param {Meta} meta
 * @param {Point} point
 * @returns {Choice | null}
 */
export function choice({ steps, sources, order, entries, words }, point) {
  const { pointNumber: place } = point;
  if (typeof place !== "number") {
    const step = at(steps, place[0]), source = at(sources, place[1]);
    return step === null ? null : { step, ...(source !== null && { source }) };
  }
  if (steps) {
    const step = at(steps, place);
    return step === null ? null : { step };
  }
  if (order) return { source: place };
  if (entries) return entries.includes(point.y) ? { source: entries.indexOf(point.y) } : null;
  if (words) return { word: words[place] };
  return null;
}

/**
 * What of a chart is pointed at at a point, or null.
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
  const chosen = choice(chart.layout.meta, point);
  if (!chosen) return null;
  const { step, source } = chosen;
  if (step === undefined && typeof source !== "number") return null;
  return { ...(step !== undefined && { step }), ...(typeof source === "number" && { source }) };
}

/**
 * Lights what is pointed at.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 * @param {Pointed | null} pointed
 */
export function light(root, chart, state, pointed) {
  if (!chart._fullLayout?.xaxis || chart.layout.meta.panels || chart.layout.meta.tree) return;
  const { columns, rows } = chart.layout.meta, x = axisOf(chart, "x"), y = axisOf(chart, "y");
  /** @type {HTMLElement[]} */
  const lit = [];
  const column = at(columns, pointed?.source ?? null), row = at(rows, pointed?.step ?? null);
  if (column !== null) {
    const [left, right] = [column - 0.5, column + 0.5].map((edge) => x._offset + x.c2p(edge));
    lit.push(lightOf("source", left, y._offset, right - left, y._length));
  }
  if (row !== null) lit.push(rowLight("step", x, y, row));
  const place = at(state.places ?? undefined, pointed?.source ?? null);
  if (place !== null) lit.push(rowLight("source", x, y, place));
  find(root, ".cursor").replaceChildren(...lit);
}

/**
 * @param {string} kind
 * @param {DrawnAxis} x
 * @param {DrawnAxis} y
 * @param {number} row
 */
function rowLight(kind, x, y, row) {
  const [top, bottom] = [row - 0.5, row + 0.5].map((edge) => y._offset + y.c2p(edge));
  return lightOf(kind, x._offset, top, x._length, bottom - top);
}

/**
 * @param {string} kind
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function lightOf(kind, left, top, width, height) {
  const made = document.createElement("div");
  made.className = `pointing ${kind}`;
  Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  return made;
}

/**
 * Has a chart tell what is pointed at in it.
 * @param {HTMLElement} root
 * @param {Chart} chart
 */
export function tellPointing(root, chart) {
  chart.on("plotly_hover", ({ points: [point] }) => {
    const pointed = pointedOf(chart, point);
    if (pointed) pointAt(root, pointed);
  });
  chart.on("plotly_unhover", () => pointAt(root, null));
}
