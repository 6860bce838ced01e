// Attention weights of a step after a what-if, computed in the browser before the server has answered. They sum to 1.

/**
 * The weights where piece `j` has the share `value`, and the others keep their ratios, or share equally if all are 0.
 * @param {number[]} weights
 * @param {number} j
 * @param {number} value
 */
export function withShare(weights, j, value) {
  const share = Math.min(Math.max(value, 0), 1);
  const rest = weights.reduce((sum, weight, k) => (k === j ? sum : sum + weight), 0);
  return weights.map((weight, k) => {
    if (k === j) return share;
    return rest > 0 ? (weight / rest) * (1 - share) : (1 - share) / (weights.length - 1);
  });
}

/**
 * The weights at another temperature: softmax(log α / τ), which equals softmax(e / τ) since energies matter only by their
 * differences. At an infinite one all pieces with a nonzero weight have the same.
 * @param {number[]} weights
 * @param {number} temperature
 */
function atTemperature(weights, temperature) {
  const logarithms = weights.map((weight) => Math.log(weight));
  const most = Math.max(...logarithms);
  const powers = logarithms.map((each) => each > -Infinity ? Math.exp((each - most) / temperature) : 0);
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * The weights of a step after an intervention, where they can be computed here; otherwise unchanged.
 * @param {number[]} weights
 * @param {Intervention | Unfinished} intervention
 */
export function changedWeights(weights, intervention) {
  switch (intervention.kind) {
    case "weights": {
      const sum = intervention.weights.reduce((total, weight) => total + weight, 0);
      return intervention.weights.map((weight) => weight / sum);
    }
    case "exclusion":
      return withShare(weights, intervention.position, 0);
    case "temperature":
      return atTemperature(weights, Number(intervention.temperature));
    default:
      return weights;
  }
}
