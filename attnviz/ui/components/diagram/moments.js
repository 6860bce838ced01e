// The moments of a step that is computed before the reader's eyes. Bars and colours move between the numbers of the step; a
// number that is written is always one of them. What is not computed yet is dimmed, and what moves is drawn over the diagram
// in a group of its own. The diagram without that group is the still of the step.

import { weightedSum } from "../chart/weights.js";
import { eased } from "../clock.js";
import { write } from "../elements.js";
import { number, percent } from "../numbers.js";
import { queryPath } from "./parts.js";
import {
  barWidth,
  contextMiddle,
  drawEnergies,
  drawPose,
  placeBar,
  ribbonMiddle,
  ribbonPath,
  ribbonsOf,
  writeWeights,
} from "./pose.js";
import { addElement, addGroup, area, colour, drawVector, roundedPath, spot } from "./svg.js";

/** Milliseconds of each scene at speed 1. */
const TIMES = { query: 800, energy: 900, exponential: 950, weight: 850, context: 1700, state: 450, word: 350 };
const EVEN = 0.35; // part of the time of the mixture that is the same for all pieces; the rest goes by their weights
const ARRIVAL = 0.6; // share of a piece's time after which it has reached the context vector
const HOLD = 0.2; // share of the time of a change of numbers in which they stand as they were, and as they are

/** @type {(from: number, to: number, share: number) => number} */
const between = (from, to, share) => from + (to - from) * share;
const clamp = (/** @type {number} */ share) => Math.min(Math.max(share, 0), 1);
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

/** The exponentials of the energies e, divided by the greatest: exp(e - max e). Their sum is 1 / max softmax(e).
 * @param {Float32Array} energies */
export function exponentials(energies) {
  const highest = Math.max(...energies);
  return Array.from(energies, (energy) => Math.exp(energy - highest));
}

/** The context vector after `added` pieces and a `part` of the next one: the sum of alpha_ij h_j in its drawn units.
 * @param {Float32Array[]} annotations @param {Float32Array} weights @param {number} added @param {number} part */
function partialContext(annotations, weights, added, part) {
  const until = weights.slice(0, added + 1).map((weight, j) => j < added ? weight : part * weight);
  return Float32Array.from(weightedSum(until, annotations, [...until.keys()]).strip);
}

/** How many pieces the mixture has at a share of its time, and how far the next one is on its way.
 * @param {Float32Array} weights @param {number} share */
function mixtureAt(weights, share) {
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
  /** The share of a scene's time that is over: 1 where the model has no such scene. @param {SceneName} name */
  const over = (name) => {
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

const DIM = 0.14; // opacity of what is not computed yet
const FALL = 0.3; // share of an annotation's way before its ribbon begins
const CARRIED_FROM = 0.03; // the least weight whose annotation is seen on its way

/** Draws over the diagram what only moments have.
 * @param {Element} svg @param {DiagramDrawing} drawing @returns {MomentParts} */
export function addMomentParts(svg, { payload, plan }) {
  const group = addGroup(svg, "moment"),
    { before, queryFrom } = plan.decoder,
    { across, flow, vertical, compact } = plan;
  svg.insertBefore(group, svg.querySelector(".reaches"));
  const attends = payload.attention !== "none", deep = across.context[1] - across.context[0];
  const sumAt = vertical
    ? { x: across.weight - 22, y: plan.last + 18 }
    : { x: queryFrom[0] - 8, y: across.weight + (compact ? 20 : 35) };
  const carried = addGroup(group, "vector");
  return {
    group,
    halo: addElement(group, "rect", {
      ...{ x: before.x - 5, y: before.y - 5, width: before.width + 10, height: before.height + 10, rx: 6 },
      class: "halo",
    }),
    beam: addElement(group, "path", {
      d: attends ? roundedPath(queryPath(plan)) : "",
      pathLength: 1,
      class: "line state beam",
    }),
    bars: attends ? plan.columns.map(() => addElement(group, "rect", { class: "share", rx: 1.5 })) : [],
    gone: [],
    sum: addElement(group, "text", { ...sumAt, class: "number strong sum", "text-anchor": vertical ? "start" : "end" }),
    carried,
    squares: drawVector(
      carried,
      area(plan, -flow / 2, -deep / 2, flow, deep),
      payload.squares.context,
      "frame context",
    ),
    factor: addElement(group, "text", { class: "number strong factor", "text-anchor": vertical ? "end" : "start" }),
  };
}

function fade(/** @type {SVGElement} */ node, /** @type {number} */ opacity) {
  const text = opacity >= 1 ? "" : String(Math.round(opacity * 100) / 100);
  if (node.style.opacity !== text) node.style.opacity = text;
  if (!text && node.getAttribute("style") === "") node.removeAttribute("style");
}

/** The opacity of a part by the share of it that is computed. */
const dimmed = (/** @type {number} */ share) => DIM + (1 - DIM) * Math.min(Math.max(share, 0), 1);

/** The shares of its way at which the query meets the keys. @param {Plan} plan */
function meetingShares(plan) {
  const spots = queryPath(plan),
    lengths = spots.slice(1).map(([x, y], k) => Math.hypot(x - spots[k][0], y - spots[k][1]));
  const whole = lengths.reduce((sum, length) => sum + length, 0), last = plan.columns[plan.columns.length - 1];
  const after = plan.vertical ? plan.columns[0] : last; // the key that it meets last
  return plan.columns.map(({ middle }) => 1 - Math.abs(after.middle - middle) / whole);
}

/** Dims what a moment has not computed yet. @param {DiagramDrawing} drawing @param {Moment} moment */
function dim({ plan, parts }, { query, grown, mixed, moved, written }) {
  const { texts } = parts, [after, readout, word] = parts.made;
  if (parts.query) fade(parts.query, query < 1 ? DIM : 1);
  const shares = parts.query ? meetingShares(plan) : [];
  parts.meetings.forEach((node, j) => fade(node, query >= shares[j] - 1e-9 ? 1 : DIM));
  parts.energyNumbers.forEach((node, j) => fade(node, grown[j] < 1 ? 0 : 1));
  fade(parts.context, mixed ? 1 : DIM);
  for (const node of texts.mix ?? []) fade(node, mixed < 1 ? 0 : 1);
  for (const node of [parts.contextLine, parts.lanes, parts.previous]) fade(node, dimmed(moved * 4));
  fade(after, dimmed(moved * 2));
  fade(readout, dimmed(written * 3));
  for (const node of [word, ...(texts.likely ?? []), ...(texts.foils ?? [])]) fade(node, dimmed(written * 3 - 1.5));
}

/** @param {DiagramDrawing} drawing @param {MomentParts} drawn @param {Pose} pose of the step @param {Moment} moment */
export function drawMoment(drawing, drawn, pose, moment) {
  const { payload, parts } = drawing;
  dim(drawing, moment);
  const asks = parts.query && !moment.copied ? 1 : 0;
  fade(drawn.halo, asks);
  fade(drawn.beam, asks);
  drawn.beam.setAttribute("stroke-dasharray", `${moment.query.toFixed(4)} 2`);
  drawEnergies(drawing, moment.energies);
  drawShares(drawing, drawn, moment);
  drawMixture(drawing, drawn, pose, moment);
  colour(parts.afterSquares, moment.after, payload.limits.state);
}

/** Draws the energies as they become exponentials, and these as they become weights.
 * @param {DiagramDrawing} drawing @param {MomentParts} drawn @param {Moment} moment */
function drawShares(drawing, drawn, moment) {
  const { payload: { words }, plan, parts } = drawing;
  const { copied, row, numbers, clear, lengths, added, way, mixed } = moment;
  const [top, bottom] = plan.across.ribbons, wide = barWidth(plan), longest = 0.95 * (bottom - top);
  drawn.bars.forEach((bar, j) => {
    const left = !copied || j < added ? 0 : j === added ? 1 - onRibbon(way) : 1;
    fade(bar, left);
    if (left) placeBar(bar, area(plan, plan.columns[j].middle - wide / 2, top, wide, lengths[j] * longest));
  });
  fadeWeightName(drawn, row === "weights" ? 1 : DIM);
  if (row === "energies") writeCopies(drawing, numbers);
  else writeWeights(drawing, numbers);
  for (const node of parts.weightNumbers) fade(node, copied ? clear : 0);
  const sum = Math.round(1e5 * numbers.reduce((whole, one) => whole + one, 0)) / 1e5; // not 99.99999 %
  fade(drawn.sum, drawn.bars.length && row !== "energies" && mixed < 1 ? clear : 0);
  write(drawn.sum, words.sum.replace("{sum}", row === "weights" ? percent(sum) : number(sum, 2)));
}

/** Fades the name of the row of the weights, which has other numbers before them.
 * @param {MomentParts} drawn @param {number} opacity */
function fadeWeightName({ group }, opacity) {
  const names = /** @type {Element} */ (group.parentNode);
  for (const node of names.querySelectorAll('.way[data-stage="2"], .symbol.weight')) {
    fade(/** @type {SVGElement} */ (node), opacity);
  }
}

/** Writes the energies in the row of the weights. @param {DiagramDrawing} drawing @param {Float32Array} energies */
function writeCopies({ plan, parts }, energies) {
  parts.weightNumbers.forEach((node, j) => {
    write(node, (plan.dense && !plan.vertical) || !Number.isFinite(energies[j]) ? "" : number(energies[j], 1));
    node.classList.remove("strong");
  });
}

/** How much of its ribbon an annotation has gone at a share of its time. */
function onRibbon(/** @type {number} */ way) {
  return eased(Math.min(Math.max((way / ARRIVAL - FALL) / (1 - FALL), 0), 1));
}

/** Draws the ribbons, the annotation that is on its way, and the sum of those that have arrived.
 * @param {DiagramDrawing} drawing @param {MomentParts} drawn @param {Pose} pose @param {Moment} moment */
function drawMixture(drawing, drawn, pose, { added, way, arrived, context, mixed }) {
  const { payload, plan, parts, numbers: { annotations } } = drawing;
  const attends = drawn.bars.length > 0, ribbons = ribbonsOf(drawing, pose.weights);
  ribbons.forEach((ribbon, j) => {
    const share = attends ? j < added ? 1 : j > added ? 0 : onRibbon(way) : way;
    if (drawn.gone[j] !== share) parts.ribbons[j].setAttribute("d", ribbonPath(plan, ribbon, share));
    drawn.gone[j] = share;
  });
  colour(parts.contextSquares, context, payload.limits.annotation);
  if (!attends) fade(parts.context, dimmed(way * 4 - 3)); // the ribbon reaches it at the end
  const weight = pose.weights[added] ?? 0, carries = attends && mixed > 0 && mixed < 1 && weight >= CARRIED_FROM;
  parts.columns.forEach((column, j) => column.classList.toggle("adding", carries && j === added));
  for (const node of [drawn.carried, drawn.factor]) fade(node, carries ? 1 - arrived : 0);
  if (!carries) return;
  const { across, cell, flow } = plan, fallen = Math.min(way / ARRIVAL / FALL, 1), gone = onRibbon(way);
  const middle = contextMiddle(drawing, pose.weights), half = (across.context[1] - across.context[0]) / 2;
  const [along, deep] = ribbonMiddle(plan, ribbons[added], gone);
  const start = (across.forward[0] + across.backward[1]) / 2, end = across.context[0] - half - 3;
  const place = spot(
    plan,
    along + (middle - along) * gone ** 3,
    fallen < 1 ? start + (across.ribbons[0] - start) * fallen : Math.min(deep, end),
  );
  const size = cell / flow + (1 - cell / flow) * gone, scaled = 1 - (1 - weight) * fallen;
  drawn.carried.setAttribute(
    "transform",
    `translate(${place.map((one) => one.toFixed(1)).join(" ")}) scale(${size.toFixed(3)})`,
  );
  colour(drawn.squares, annotations[added].map((value) => value * scaled), payload.limits.annotation);
  write(drawn.factor, fallen < 1 ? "" : `× ${number(weight, 2)}`);
  const x = place[0] + (plan.vertical ? -half * size - 5 : flow / 2 * size + 6);
  drawn.factor.setAttribute("x", x.toFixed(1));
  drawn.factor.setAttribute("y", (place[1] + 4).toFixed(1));
}

/** Draws the still of the step again. @param {DiagramDrawing} drawing @param {MomentParts} drawn @param {Pose} pose */
export function removeMomentParts(drawing, drawn, pose) {
  const { parts } = drawing;
  const all = { query: 1, grown: [], mixed: 1, moved: 1, written: 1 };
  dim(drawing, /** @type {Moment} */ (/** @type {Partial<Moment>} */ (all)));
  for (const node of parts.weightNumbers) fade(node, 1);
  fadeWeightName(drawn, 1);
  for (const column of parts.columns) column.classList.remove("adding");
  drawn.group.remove();
  drawPose(drawing, pose);
}
