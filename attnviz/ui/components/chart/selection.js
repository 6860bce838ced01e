// Plotly shapes that mark the current step and source piece in a chart: frames of its row and cell, the band of a row
// or column, or the ring around a point.

import { BAND, CELL_FRAME_WIDTH, ROW_FRAME_WIDTH } from "../../../figures/constants.js";

/** A rectangle.
 * @param {number} x0 @param {number} x1 @param {number} y0 @param {number} y1 @param {string | undefined} color
 * @param {number} width @param {Partial<Shape>} [more] @returns {Shape} */
function rectangle(x0, x1, y0, y1, color, width, more = {}) {
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
  return [
    rectangle(x0, x1, span[0], span[1], "transparent", 0, {
      xref: "paper",
      yref: "paper",
      xsizemode: "pixel",
      xanchor: 0,
      fillcolor: meta.stage_colour,
    }),
  ];
}

const RING = 9; // pixels of its radius

/** @param {Meta} meta @param {[number, number]} point @returns {Shape} */
function ring(meta, [xanchor, yanchor]) {
  const pixels = { type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor, yanchor };
  return rectangle(-RING, RING, -RING, RING, meta.frame, ROW_FRAME_WIDTH, pixels);
}

/** An axis of a drawn chart.
 * @param {Chart} chart
 * @param {string} id as "x2" or "y" */
export function axisOf(chart, id) {
  /** @type {Record<string, any>} */
  const drawn = chart._fullLayout ?? {};
  return /** @type {DrawnAxis} */ (drawn[`${id[0]}axis${id.slice(1)}`]);
}
