// The moments of a step that is computed before the reader's eyes. Bars and colours move between the numbers of the step;
// a number that is written is always one of them.

import { exponentials, weightedSum } from "../chart/weights.js";
import { between, clamp, eased } from "../clock.js";

/** Milliseconds of each scene at speed 1. */
const TIMES = { query: 800, energy: 900, exponential: 950, weight: 850, context: 1700, state: 450, word: 350 };
const EVEN = 0.35; // part of the time of the mixture that is the same for all pieces; the rest goes by their weights
export const ARRIVAL = 0.6; // share of a piece's time after which it has reached the context vector
const HOLD = 0.2; // share of the time of a change of numbers in which they stand as they were, and as they are

const held = (/** @type {number} */ share) => eased(clamp((share - HOLD) / (1 - 2 * HOLD)));

/** The scenes with their times, from 0 to the end of the last. @param {SceneText[]} scenes @returns {Scene[]} */
export function timed(scenes) {
  let from = 0;
  return scenes.map((scene) => {
    const begin = from;
    from += TIMES[scene.name];
    return { ...scene, from: begin, to: from };
  });
}

/** The place of the scene at a time; the end of a scene belongs to it. @param {Scene[]} scenes @param {number} time */
export const sceneAt = (scenes, time) => Math.max(0, scenes.findIndex(({ to }) => time <= to));

/** The context vector after `added` pieces and a `part` of the next one: the sum of alpha_ij h_j in its drawn units.
 * @param {Float32Array[]} annotations @param {Float32Array} weights @param {number} added @param {number} part */
function partialContext(annotations, weights, added, part) {
  const until = weights.slice(0, added + 1).map((weight, j) => j < added ? weight : part * weight);
  return Float32Array.from(weightedSum(until, annotations, [...until.keys()]).strip);
}

/** How many pieces the mixture has at a share of its time, and how far the next one is on its way. */
function mixtureAt(/** @type {Float32Array} */ weights, /** @type {number} */ share) {
  let begin = 0;
  for (let j = 0; j < weights.length; j += 1) {
    const time = EVEN / weights.length + (1 - EVEN) * weights[j];
    if (share < begin + time) return { added: j, way: clamp((share - begin) / time) };
    begin += time;
  }
  return { added: weights.length, way: 0 };
}

/** @param {Pose} pose of the step @param {Float32Array[]} annotations @param {Scene[]} scenes
 * @param {number} low the least energy that is drawn @param {number} time @returns {Moment} */
export function momentAt({ energies, weights, context, before, after }, annotations, scenes, low, time) {
  /** The share of a scene's time that is over: 1 where the model has no such scene. */
  const over = (/** @type {SceneName} */ name) => {
    const scene = scenes.find((one) => one.name === name);
    return scene ? clamp((time - scene.from) / (scene.to - scene.from)) : 1;
  };
  const mixes = scenes[0].name === "query", exponential = over("exponential");
  const raised = held(exponential), divided = held(over("weight"));
  const powers = exponentials(energies), highest = Math.max(...energies), count = energies.length;
  const grown = Array.from(energies, (_, j) => eased(clamp(over("energy") * 2 - j / count))); // one after the other
  const { added, way } = mixes ? mixtureAt(weights, over("context")) : { added: 0, way: over("context") };
  const part = eased(clamp((way - ARRIVAL) / (1 - ARRIVAL)));
  const length = (/** @type {number} */ power, /** @type {number} */ j) => {
    const begun = Number.isFinite(energies[j]) ? (energies[j] - low) / (highest - low || 1) : 0;
    return divided ? between(power, weights[j], divided) : between(begun, power, raised);
  };
  return {
    query: over("query"),
    energies: energies.map((energy, j) => Number.isFinite(energy) ? energy * grown[j] : energy),
    grown,
    copied: exponential > 0,
    row: raised < 0.5 ? "energies" : divided < 0.5 ? "powers" : "weights",
    numbers: raised < 0.5 ? energies : divided < 0.5 ? Float32Array.from(powers) : weights,
    clear: Math.abs(2 * (raised < 1 ? raised : divided) - 1),
    lengths: powers.map(length),
    added,
    way,
    arrived: mixes ? part : way,
    context: mixes && added < count ? partialContext(annotations, weights, added, part) : context,
    gathered: added < count ? weights.slice(0, added).reduce((sum, weight) => sum + weight, 0) : 1,
    mixed: over("context"),
    moved: over("state"),
    after: after.map((value, k) => between(before[k], value, eased(over("state")))),
    written: over("word"),
  };
}
