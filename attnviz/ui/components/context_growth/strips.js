// Data of the figure of the running sum: the products alpha_ij h_j of a step in the order of their rows, their sum, and
// the lines and frames around them.

import { MOST_ROWS, STRONGEST, VEIL } from "../../../figures/constants.js";
import { fill } from "../shared.js";

/** @param {Float32Array[]} terms @param {number} units */
export function sumOf(terms, units) {
  const total = new Float64Array(units);
  for (const term of terms) for (let k = 0; k < units; k += 1) total[k] += term[k];
  return Float32Array.from(total);
}

/** The rows of a step, each with its piece, its weight and its strip, and the sum of all strips. Of a long sentence in
 * order of weight the pieces that have no row of their own make up the last one together.
 * @param {GrowthState} state @param {number} step @param {boolean} strongest @returns {Growth} */
export function growthAt(state, step, strongest) {
  const alpha = state.alpha[step];
  const { units } = state.payload;
  const skeleton = (strongest && state.skeletons.thinned) || state.skeletons.figure;
  const { names, rows: most } = skeleton.layout.meta;
  const pieces = Array.from(alpha, (_, j) => j); // in the order of their rows, in which they are added
  if (strongest) pieces.sort((a, b) => alpha[b] - alpha[a] || a - b);
  /** @param {number} j */
  const strip = (j) => state.annotations[j].map((value) => alpha[j] * value);
  const own = most < pieces.length ? most - 1 : pieces.length;
  /** @type {Strip[]} */
  const lines = pieces.slice(0, own).map((j) => ({ name: names[j], piece: j, weight: alpha[j], strip: strip(j) }));
  const rest = pieces.slice(own);
  if (rest.length) {
    const weight = rest.reduce((total, j) => total + alpha[j], 0);
    lines.push({
      name: fill(state.payload.words.more, { n: rest.length }),
      piece: null,
      weight,
      strip: sumOf(rest.map(strip), units),
    });
  }
  const total = sumOf(lines.map((line) => line.strip), units);
  /** @param {number | null} source */
  const row = (source) => (source === null ? -1 : rest.includes(source) ? own : pieces.indexOf(source));
  const amounts = Float32Array.from(total, Math.abs).sort();
  const limit = amounts[Math.floor(STRONGEST * (amounts.length - 1))] || 1; // of the quantile STRONGEST
  return { step, skeleton, lines, row, total, limit };
}

/** @param {Growth} growth @param {number} added @param {number} units @param {number | null} source @returns {Shape[]}
 */
export function growthShapes({ skeleton, lines, row }, added, units, source) {
  const { paper_colour: paper, context_colour: context, selection_colour: selection, hidden } = skeleton.layout.meta;
  const count = lines.length;
  /** @type {(x0: number, x1: number, y0: number, y1: number, line: Shape["line"], more?: Partial<Shape>) => Shape} */
  const rule = (x0, x1, y0, y1, line, more) => ({ type: "line", x0, x1, y0, y1, line, ...more });
  /** @type {(y0: number, y1: number, color: string, more?: Partial<Shape>) => Shape} */
  const frame = (y0, y1, color, more) => (
    { type: "rect", x0: 0.5, x1: units + 0.5, y0, y1, line: { color, width: 2 }, ...more }
  );
  /** @type {Shape[]} */
  const found = [];
  if (count <= MOST_ROWS) {
    lines.forEach((_, k) => found.push(rule(0.5, units + 0.5, k + 0.5, k + 0.5, { color: paper, width: 2 })));
  }
  if (added < count) {
    found.push(frame(added - 0.5, count - 0.5, paper, { line: { width: 0 }, fillcolor: paper, opacity: VEIL }));
  }
  if (units > hidden) {
    found.push(
      rule(hidden + 0.5, hidden + 0.5, 0, 1, { color: selection, width: 1.5, dash: "dot" }, { yref: "paper" }),
    );
  }
  const chosen = row(source);
  if (chosen >= 0) found.push(frame(chosen - 0.5, chosen + 0.5, selection));
  found.push(frame(-0.5, 0.5, context, { yref: "y2" }));
  return found;
}
