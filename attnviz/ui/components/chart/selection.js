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
  const { meta } = layout;
  if (meta.upright && places) return [...uprightBand(layout, entryAt(places, source)), ...stageMark(layout, stage)];
  if (places) return band(meta, entryAt(places, source));
  if (meta.points && step !== null) return [ring(meta, meta.points[step])];
  if (meta.spans && step !== null) return columnBand(meta, meta.spans[step]);
  const row = entryAt(meta.rows, step);
  if (row === null) return [];
  const column = entryAt(meta.columns, source);
  const [x0, x1] = layout.xaxis.range;
  const rowsBeside = (meta.beside ?? []).map(({ xaxis, yaxis }) => {
    const here = { xref: `${xaxis} domain`, yref: yaxis };
    return rectangle(0, 1, row - 0.5, row + 0.5, meta.frame, ROW_FRAME_WIDTH, here);
  });
  const inPanels = Object.values(meta.panels ?? { only: { xaxis: "x", yaxis: "y" } }).flatMap(({ xaxis, yaxis }) => {
    const here = { xref: xaxis, yref: yaxis };
    const frames = [rectangle(x0, x1, row - 0.5, row + 0.5, meta.frame, ROW_FRAME_WIDTH, here)];
    if (column !== null) {
      frames.push(
        rectangle(column - 0.5, column + 0.5, row - 0.5, row + 0.5, meta.selection_colour, CELL_FRAME_WIDTH, here),
      );
    }
    return frames;
  });
  return [...inPanels, ...rowsBeside];
}

/** @param {Meta} meta @param {number | null} row @returns {Shape[]} */
function band(meta, row) {
  if (row === null) return []; // its row is shared with other pieces
  const fillcolor = withOpacity(meta.selection_colour, BAND);
  return [
    rectangle(0, 1, row - 0.5, row + 0.5, meta.selection_colour, 1, { xref: "paper", fillcolor, layer: "below" }),
  ];
}

/** The band behind the column of a source piece, as high as energies and weights.
 * @param {Layout} layout @param {number | null} column @returns {Shape[]} */
function uprightBand({ meta, yaxis }, column) {
  if (column === null) return [];
  const [bottom] = yaxis.domain ?? [0];
  return [
    rectangle(column - 0.5, column + 0.5, bottom, 1, "transparent", 0, {
      yref: "paper",
      fillcolor: withOpacity(meta.selection_colour, BAND),
      layer: "below",
    }),
  ];
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

/** The band behind the column of the current step.
 * @param {Meta} meta @param {[number, number] | undefined} span @returns {Shape[]} */
function columnBand(meta, span) {
  if (!span) return []; // the current translation is longer than the search took
  const fillcolor = withOpacity(meta.selection_colour, BAND);
  return [rectangle(span[0], span[1], 0, 1, "transparent", 0, { yref: "paper", fillcolor, layer: "below" })];
}

const RING = 9; // pixels of its radius

/** @param {Meta} meta @param {[number, number]} point @returns {Shape} */
function ring(meta, [xanchor, yanchor]) {
  const pixels = { type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor, yanchor };
  return rectangle(-RING, RING, -RING, RING, meta.frame, ROW_FRAME_WIDTH, pixels);
}

/** @param {[number, number] | undefined} span */
export const middleOf = (span) => (span ? (span[0] + span[1]) / 2 : null);

/** An axis of a drawn chart.
 * @param {Chart} chart
 * @param {string} id as "x2" or "y" */
export function axisOf(chart, id) {
  /** @type {Record<string, any>} */
  const drawn = chart._fullLayout ?? {};
  return /** @type {DrawnAxis} */ (drawn[`${id[0]}axis${id.slice(1)}`]);
}
