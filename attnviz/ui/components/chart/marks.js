// Marks in a chart. Plotly shapes mark the current step and source piece: frames of its row and cell, the band of a row or
// column, or the ring around a point. Elements over the chart, since Plotly draws too slowly, mark what is hovered anywhere
// in the view. A click or hovering reports the step, source piece or word of its point.

import { BAND, CELL_FRAME_WIDTH, ROW_FRAME_WIDTH } from "../../../figures/constants.js";
import { element, find } from "../elements.js";
import { number } from "../numbers.js";
import { sendPointed } from "../view.js";

/** A rectangle.
 * @param {number} x0 @param {number} x1 @param {number} y0 @param {number} y1 @param {string | undefined} color
 * @param {number} width @param {Partial<Shape>} [more] @returns {Shape} */
export function rectangle(x0, x1, y0, y1, color, width, more = {}) {
  return { type: "rect", x0, x1, y0, y1, line: { color, width }, ...more };
}

/** A colour as #rrggbb, of an opacity from 0 to 1. @param {string | undefined} color @param {number} opacity */
const withOpacity = (color, opacity) => color + Math.round(255 * opacity).toString(16).padStart(2, "0");

/** The entry of a list at `index`; null where there is none, or `index` is null.
 * @param {(number | null)[] | undefined} list @param {number | null} index */
export const entryAt = (list, index) => (index === null ? null : list?.[index] ?? null);

/** The frames of the step's row and of the cell in the source piece's column, in every panel; or the ring around the
 * step's point; or the band of the source piece's row.
 * @param {Layout} layout @param {ChartState} state @param {number[] | null} places @returns {Shape[]} */
export function selectionShapes(layout, { step, source, stage }, places) {
  const { meta } = layout, behind = { fillcolor: withOpacity(meta.selection_colour, BAND), layer: "below" };
  /** @type {(x0: number, x1: number, bottom: number) => Shape} */
  const column = (x0, x1, bottom) => rectangle(x0, x1, bottom, 1, "transparent", 0, { yref: "paper", ...behind });
  if (places) {
    const place = entryAt(places, source), marks = meta.upright ? stageMark(layout, stage) : [];
    if (place === null) return marks;
    const [low, high] = [place - 0.5, place + 0.5], [bottom] = layout.yaxis.domain ?? [0];
    if (meta.upright) return [column(low, high, bottom), ...marks]; // as high as energies and weights
    return [rectangle(0, 1, low, high, meta.selection_colour, 1, { xref: "paper", ...behind })];
  }
  if (meta.points && step !== null) return [ring(meta, meta.points[step])];
  if (meta.spans && step !== null) {
    const span = meta.spans[step];
    return span ? [column(...span, 0)] : []; // the current translation may be longer than the search took
  }
  const row = entryAt(meta.rows, step);
  if (row === null) return [];
  const sourceColumn = entryAt(meta.columns, source), [x0, x1] = layout.xaxis.range;
  const rowsBeside = (meta.beside ?? []).map(({ xaxis, yaxis }) => {
    const here = { xref: `${xaxis} domain`, yref: yaxis };
    return rectangle(0, 1, row - 0.5, row + 0.5, meta.frame, ROW_FRAME_WIDTH, here);
  });
  const inPanels = Object.values(meta.panels ?? { only: { xaxis: "x", yaxis: "y" } }).flatMap(({ xaxis, yaxis }) => {
    /** @type {(from: number, to: number, color: string | undefined, width: number) => Shape} */
    const frame = (from, to, color, width) =>
      rectangle(from, to, row - 0.5, row + 0.5, color, width, { xref: xaxis, yref: yaxis });
    const ofRow = frame(x0, x1, meta.frame, ROW_FRAME_WIDTH);
    if (sourceColumn === null) return [ofRow];
    return [ofRow, frame(sourceColumn - 0.5, sourceColumn + 0.5, meta.selection_colour, CELL_FRAME_WIDTH)];
  });
  return [...inPanels, ...rowsBeside];
}

const MARK = 3; // pixels of the width of the line beside the stage gone to

/** The line beside the part of the figure that shows the stage gone to.
 * @param {Layout} layout @param {number | null | undefined} stage @returns {Shape[]} */
function stageMark({ meta, margin }, stage) {
  const span = meta.stages?.[String(stage)];
  if (!span) return [];
  const [x0, x1] = [0, MARK].map((pixels) => pixels - (margin?.l ?? 0));
  const own = { xref: "paper", yref: "paper", xsizemode: "pixel", xanchor: 0, fillcolor: meta.stage_colour };
  return [rectangle(x0, x1, span[0], span[1], "transparent", 0, own)];
}

const RING = 9; // pixels of its radius

/** @param {Meta} meta @param {[number, number]} point @returns {Shape} */
function ring(meta, [xanchor, yanchor]) {
  const pixels = { type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor, yanchor };
  return rectangle(-RING, RING, -RING, RING, meta.frame, ROW_FRAME_WIDTH, pixels);
}

/** An axis of a drawn chart. @param {Chart} chart @param {string} id as "x2" or "y" */
export function axisOf(chart, id) {
  /** @type {Record<string, any>} */
  const drawn = chart._fullLayout ?? {};
  return /** @type {DrawnAxis} */ (drawn[`${id[0]}axis${id.slice(1)}`]);
}

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
function cellOn(axis, place) {
  const [from, to] = [place - 0.5, place + 0.5].map((edge) => axis._offset + axis.c2p(edge));
  return { _offset: from, _length: to - from };
}

/** An element over a chart, as wide as a part of one axis and as high as a part of another; an axis is a part of
 * itself. Plotly draws too slowly for marks that follow the pointer.
 * @param {string} className @param {PixelSpan} across @param {PixelSpan} down */
function overlayOn(className, { _offset: left, _length: width }, { _offset: top, _length: height }) {
  const sides = Object.entries({ left, top, width, height }).map(([side, pixels]) => [side, `${pixels}px`]);
  return element("div", className, { style: Object.fromEntries(sides) });
}

/** Highlights the hovered source piece or step.
 * @param {Pick<ChartState, "root" | "chart" | "places">} state @param {Pointed | null} pointed */
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
    const top = axisOf(chart, "y2")._offset, down = { _offset: top, _length: y._offset + y._length - top };
    highlights.push(overlayOn("pointing source", cellOn(x, place), down)); // from the energies down to the weights
  } else if (place !== null) highlights.push(overlayOn("pointing source", x, cellOn(y, place)));
  find(root, ".cursor").replaceChildren(...highlights);
}

/** Makes a chart report what is hovered in it.
 * @param {Pick<ChartState, "root" | "chart">} state
 * @param {(point: Point) => Pointed | null} [pointedAt] what a point stands for */
export function reportPointing({ root, chart }, pointedAt = (point) => pointedOf(chart, point)) {
  chart.on("plotly_hover", ({ points: [point] }) => {
    const pointed = pointedAt(point);
    if (pointed) sendPointed(root, pointed);
  });
  chart.on("plotly_unhover", () => sendPointed(root, null));
}

/** The value of a cell in the heatmap of an axis, in its own unit; null where it has none.
 * @param {Chart} chart @param {string} xaxis @param {number} row @param {number} column @returns {number | null} */
export function numberAt(chart, xaxis, row, column) {
  /** @type {any} */
  const panel = chart._fullData?.find((trace) => trace.type === "heatmap" && (trace.xaxis ?? "x") === xaxis);
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

/** Listens to the pointer over a chart of several panels. */
export function linkPanels(/** @type {ChartState} */ state) {
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
