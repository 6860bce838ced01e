// Attention weights of a step after a what-if, computed in the browser before the server has answered; they sum to 1. And
// the sums that they weight.

/** The weights where piece `j` has the share `value`, and the others keep their ratios, or share equally if all are 0.
 * @param {number[]} weights @param {number} j @param {number} value */
export function withShare(weights, j, value) {
  const share = Math.min(Math.max(value, 0), 1);
  const rest = weights.reduce((sum, weight, k) => (k === j ? sum : sum + weight), 0);
  return weights.map((weight, k) => {
    if (k === j) return share;
    return rest > 0 ? (weight / rest) * (1 - share) : (1 - share) / (weights.length - 1);
  });
}

/** Values at least 0, divided by their sum. */
function normalised(/** @type {number[]} */ values) {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => value / sum);
}

/** The exponentials of energies e, divided by the greatest: exp(e - max e). Their sum is 1 / max softmax(e). */
export function exponentials(/** @type {ArrayLike<number>} */ energies) {
  const highest = Math.max(...Array.from(energies));
  return Array.from(energies, (energy) => Math.exp(energy - highest));
}

/** The softmax of energies; -Infinity gets no weight. */
export const softmax = (/** @type {number[]} */ energies) => normalised(exponentials(energies));

/** The weights of a step after an intervention, where they can be computed here; otherwise unchanged. */
export function changedWeights(/** @type {number[]} */ weights, /** @type {Intervention | Unfinished} */ intervention) {
  switch (intervention.kind) {
    case "weights":
      return normalised(intervention.weights);
    case "exclusion":
      return withShare(weights, intervention.position, 0);
    case "temperature": {
      // softmax(log α / τ) equals softmax(e / τ), since energies matter only by their differences.
      const temperature = Number(intervention.temperature);
      return softmax(weights.map((weight) => weight ? Math.log(weight) / temperature : -Infinity));
    }
    default:
      return weights;
  }
}

/** The sum of the values of some pieces, each times its weight, and the sum of these weights.
 * @param {ArrayLike<number>} weights @param {ArrayLike<number>[]} values of each piece @param {number[]} pieces */
export function weightedSum(weights, values, pieces) {
  const strip = Array.from(values[0], (_, k) => pieces.reduce((sum, j) => sum + weights[j] * values[j][k], 0));
  return { pieces, strip, weight: pieces.reduce((sum, j) => sum + weights[j], 0) };
}

/** The rows of a weighted sum: one for each of the first `own` pieces, and one for all others together.
 * @param {ArrayLike<number>} weights @param {ArrayLike<number>[]} values @param {number[]} pieces @param {number} own */
export function sumRows(weights, values, pieces, own) {
  const rest = pieces.slice(own), groups = pieces.slice(0, own).map((j) => [j]);
  return [...groups, ...(rest.length ? [rest] : [])].map((group) => weightedSum(weights, values, group));
}

/** Pieces by decreasing weight. */
export const strongestFirst = (/** @type {ArrayLike<number>} */ weights) =>
  Array.from(weights, (_, j) => j).sort((one, other) => weights[other] - weights[one] || one - other);
