// Weights changed by hand: what a what-if makes of those of a step before the server has answered. All of them are shares:
// from 0, sum 1.

/**
 * The weights where piece `j` has the share `value`, and the others keep their ratios; where they had nothing, they share
 * alike.
 * @param {number[]} weights
 * @param {number} j
 * @param {number} value
 */
export function moved(weights, j, value) {
  const given = Math.min(Math.max(value, 0), 1);
  const rest = weights.reduce((sum, weight, k) => (k === j ? sum : sum + weight), 0);
  return weights.map((weight, k) => {
    if (k === j) return given;
    return rest > 0 ? (weight / rest) * (1 - given) : (1 - given) / (weights.length - 1);
  });
}

/**
 * The weights at another temperature: a softmax knows its energies by their differences only, and so does the logarithm of
 * its outcome. At an infinite one all that have any weight have the same.
 * @param {number[]} weights
 * @param {number} temperature
 */
function heated(weights, temperature) {
  const logarithms = weights.map((weight) => Math.log(weight));
  const most = Math.max(...logarithms);
  const powers = logarithms.map((each) => each > -Infinity ? Math.exp((each - most) / temperature) : 0);
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * What a change makes of the weights of a step, as far as it can be told here.
 * @param {number[]} weights
 * @param {WhatIf} change
 */
export function changed(weights, change) {
  switch (change.kind) {
    case "weights":
      return change.weights;
    case "only":
      return moved(weights, change.source, 1);
    case "without":
      return moved(weights, change.source, 0);
    case "alike":
      return weights.map(() => 1 / weights.length);
    case "temperature":
      return heated(weights, Number(change.temperature));
    default:
      return weights;
  }
}
