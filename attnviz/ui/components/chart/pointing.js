// Clicks and hovering in a chart: finds the step, source piece or word of a point, reports what is hovered to the view,
// and highlights what is hovered anywhere in the view. Highlights are elements over the chart, since Plotly draws too
// slowly.

import { element, find } from "../shared.js";
import { sendPointed } from "../view.js";
import { axisOf, entryAt } from "./selection.js";

const ADDED = 1; // index of the trace with the contributions of words, in the figure of the context's units

/** The choice that a click on a point makes, or null.
 * @param {Meta} meta @param {Point} point @returns {Choice | null} */
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

/** The source piece or step of a hovered point, or null.
 * @param {Chart} chart @param {Point} point @returns {Pointed | null} */
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

/** The cell at a place of an axis, a step or a piece.
 * @param {DrawnAxis} axis @param {number} place @returns {PixelSpan} */
export function cellOn(axis, place) {
  const [from, to] = [place - 0.5, place + 0.5].map((edge) => axis._offset + axis.c2p(edge));
  return { _offset: from, _length: to - from };
}

/** An element over a chart, as wide as a part of one axis and as high as a part of another; an axis is a part of
 * itself. Plotly draws too slowly for marks that follow the pointer.
 * @param {string} className @param {PixelSpan} across @param {PixelSpan} down */
export function overlayOn(className, { _offset: left, _length: width }, { _offset: top, _length: height }) {
  const sides = Object.entries({ left, top, width, height }).map(([side, pixels]) => [side, `${pixels}px`]);
  return element("div", className, { style: Object.fromEntries(sides) });
}

/** Highlights the hovered source piece or step. @param {ChartState} state @param {Pointed | null} pointed */
export function highlight({ root, chart, places }, pointed) {
  if (!chart._fullLayout?.xaxis) return;
  const { columns, rows, panels, tree, upright } = chart.layout.meta;
  if (panels || tree) return;
  const x = axisOf(chart, "x"), y = axisOf(chart, "y"), source = pointed?.source ?? null;
  const column = entryAt(columns, source), row = entryAt(rows, pointed?.step ?? null);
  const place = entryAt(places ?? undefined, source);
  /** @type {HTMLElement[]} */
  const highlights = [];
  if (column !== null) highlights.push(overlayOn("pointing source", cellOn(x, column), y));
  if (row !== null) highlights.push(overlayOn("pointing step", x, cellOn(y, row)));
  if (place !== null && upright) {
    const top = axisOf(chart, "y2")._offset; // the column goes from the energies down to the weights
    highlights.push(
      overlayOn("pointing source", cellOn(x, place), { _offset: top, _length: y._offset + y._length - top }),
    );
  } else if (place !== null) highlights.push(overlayOn("pointing source", x, cellOn(y, place)));
  find(root, ".cursor").replaceChildren(...highlights);
}

/** Makes a chart report what is hovered in it. @param {ChartState} state */
export function reportPointing({ root, chart }) {
  chart.on("plotly_hover", ({ points: [point] }) => {
    const pointed = pointedOf(chart, point);
    if (pointed) sendPointed(root, pointed);
  });
  chart.on("plotly_unhover", () => sendPointed(root, null));
}
