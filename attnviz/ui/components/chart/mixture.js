// The weighted sum of a step with other weights than its own: the strips of the largest terms, of the rest, and of the sum.

import { number, percent } from "../shared.js";

/** The strips of the sum with `weights`, and a function that writes their labels into the layout.
 * @param {Figure} figure @param {NonNullable<Meta["mixture"]>} mixture @param {number[]} weights */
export function mixtureOf(figure, { values, names, more }, weights) {
  const own = figure.layout.meta.strip_pieces?.filter((piece) => piece !== null).length ?? 0;
  const order = weights.map((_, j) => j).sort((one, other) => weights[other] - weights[one] || one - other);
  /** @type {(pieces: number[]) => number[]} */
  const sum = (pieces) =>
    Array.from(values[0], (_, k) => pieces.reduce((total, j) => total + weights[j] * values[j][k], 0));
  const rest = order.slice(own);
  const rows = [...order.slice(0, own).map((j) => [j]), ...(rest.length ? [rest] : []), order].map(sum);
  const labels = order.slice(0, own).map((j) => `${percent(weights[j])} × ${names[j]}`);
  if (rest.length) labels.push(`${percent(rest.reduce((total, j) => total + weights[j], 0))} × ${more}`);
  return {
    strips: { z: rows, text: rows.map((row) => row.map((value) => number(value, 2))) },
    /** @type {(layout: Layout) => Layout} */
    labelled: (layout) => {
      const { yaxis3: axis, annotations } = layout;
      if (!axis) return layout;
      const ticktext = [...labels, ...axis.ticktext.slice(-1)];
      // The sentence about the step's own weights is the last one.
      const own = annotations?.map((one, k) => k === annotations.length - 1 ? { ...one, text: "" } : one);
      return { ...layout, yaxis3: { ...axis, ticktext }, annotations: own };
    },
  };
}
