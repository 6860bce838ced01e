// Draws the numbers of a step (a pose) in the diagram: colours of squares, bars of energies, ribbons of weights.
// Also unpacks them from the payload, and animates from the pose of one step to that of another.

import { eased } from "../clock.js";
import { number, unpackRows, write } from "../shared.js";
import { meanPosition, ribbonEnds, ribbonPath } from "./ribbons.js";
import { area, colour, roundedPath, spot } from "./svg.js";

const ANIMATION_TIME = 650; // milliseconds at speed 1
const NUMBER_WIDTH = 28; // pixels of a weight with its space

/** Unpacks the numbers of a payload. @param {DiagramPayload} payload @returns {DiagramNumbers} */
export function unpackNumbers(payload) {
  const { squares, sources: { length } } = payload;
  /** @type {Record<keyof Pose, Float32Array[]>} */
  const rows = {
    energies: unpackRows(payload.energies, length),
    weights: unpackRows(payload.weights, length),
    context: unpackRows(payload.contexts, squares.context),
    before: unpackRows(payload.before, squares.state),
    after: unpackRows(payload.after, squares.state),
    readout: unpackRows(payload.readouts, squares.readout),
  };
  return {
    annotations: unpackRows(payload.annotations, squares.annotation),
    poses: payload.steps.map((_, k) => mapped(rows, (row) => row[k])),
  };
}

/** A pose, from something that has as many parts.
 * @template Part @param {Record<keyof Pose, Part>} parts @param {(part: Part, name: keyof Pose) => Float32Array} map
 * @returns {Pose} */
function mapped(parts, map) {
  const names = /** @type {(keyof Pose)[]} */ (Object.keys(parts));
  return /** @type {any} */ (Object.fromEntries(names.map((name) => [name, map(parts[name], name)])));
}

/** Draws the numbers of a pose. @param {DiagramDrawing} drawing @param {Pose} pose */
export function drawPose(drawing, pose) {
  const { payload: { limits }, plan, parts } = drawing;
  colour(parts.contextSquares, pose.context, limits.annotation);
  colour(parts.beforeSquares, pose.before, limits.state);
  colour(parts.afterSquares, pose.after, limits.state);
  colour(parts.readoutSquares, pose.readout, limits.readout);
  const middle = contextMiddle(drawing, pose.weights);
  const [x, y] = spot(plan, middle, 0);
  parts.context.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  parts.contextLine.setAttribute("d", contextLine(plan, middle));
  const leftward = middle > plan.width * 0.68, edge = plan.flow / 2 + 12;
  parts.contextNames.forEach((node, k) => {
    node.setAttribute("x", String(leftward ? -edge - 24 + k * -8 : edge + k * 32));
    node.setAttribute("text-anchor", leftward && k ? "end" : "start");
  });
  drawEnergies(drawing, pose.energies);
  writeWeights(drawing, pose.weights);
  ribbonsOf(drawing, pose.weights).forEach((ribbon, j) => parts.ribbons[j].setAttribute("d", ribbonPath(plan, ribbon)));
}

/** The middle of the context vector along the sentence.
 * @param {DiagramDrawing} drawing @param {Float32Array} weights */
export const contextMiddle = ({ payload, plan }, weights) =>
  payload.attention === "none" ? plan.last - plan.flow / 2 : meanPosition(plan, weights);

/** Draws the bars of energies, and writes their numbers.
 * @param {DiagramDrawing} drawing @param {Float32Array} energies */
export function drawEnergies({ payload: { range: [low, high] }, plan, parts }, energies) {
  const [top, bottom] = plan.across.energy, { columns, vertical } = plan;
  const unit = (bottom - top) / (high - low || 1), wide = barWidth(plan);
  parts.energies.forEach((drawn, j) => {
    const along = columns[j].middle, energy = energies[j], deep = Math.abs(energy) * unit || 0;
    // The bar of an energy goes up in a horizontal layout, and to the right in a vertical one.
    const zero = vertical ? top - low * unit : bottom + low * unit;
    const start = vertical === energy > 0 ? zero : zero - deep;
    const bar = area(plan, along - wide / 2, start, wide, deep);
    placeBar(drawn, bar);
    drawn.classList.toggle("negative", energy < 0);
    if (parts.energyNumbers[j]) write(parts.energyNumbers[j], Number.isFinite(energy) ? number(energy, 1) : "");
  });
}

/** The width of a bar of a source piece, in pixels. @param {Plan} plan */
export const barWidth = ({ cell }) => Math.min(cell, 26);

/** @param {SVGElement} bar @param {Area} place */
export function placeBar(bar, place) {
  for (const [name, value] of Object.entries(place)) {
    const text = value.toFixed(2);
    if (bar.getAttribute(name) !== text) bar.setAttribute(name, text);
  }
}

/** Writes the weights; in narrow columns only large ones, of which a larger one beside takes the room.
 * @param {DiagramDrawing} drawing @param {Float32Array} weights */
export function writeWeights({ plan, parts }, weights) {
  const narrow = plan.dense && !plan.vertical, places = plan.columns.map(({ middle }) => middle);
  parts.weightNumbers.forEach((node, j) => {
    const weight = weights[j], isStrong = weight >= 0.1;
    const hasRoom = !narrow ||
      isStrong &&
        places.every((place, k) =>
          Math.abs(place - places[j]) > NUMBER_WIDTH || k === j || weights[k] < weight || weights[k] === weight && k > j
        );
    write(node, weight < 0.005 && !narrow ? "·" : hasRoom ? number(weight, 2) : "");
    node.classList.toggle("strong", isStrong);
  });
}

/** The ribbons to the context vector: of each source piece, or without attention the one from the last forward state.
 * @param {DiagramDrawing} drawing @param {Float32Array} weights @returns {Ribbon[]} */
export function ribbonsOf(drawing, weights) {
  const { payload, plan: { columns, flow, cell } } = drawing, middle = contextMiddle(drawing, weights);
  if (payload.attention === "none") {
    const last = columns[columns.length - 1];
    return [{ from: last.middle, to: middle, thick: flow, neck: Math.min(last.width, cell) }];
  }
  const ends = ribbonEnds(weights, middle - flow / 2, flow);
  return columns.map(({ middle: from, width }, j) => {
    const thick = weights[j] * flow;
    return { from, to: ends[j], thick, neck: Math.min(thick, width - 3) };
  });
}

/** The line from the context vector to the boxes. @param {Plan} plan @param {number} middle */
function contextLine({ vertical, across, decoder: { lanes, after, readout } }, middle) {
  const [nearest, farthest] = [after.x + after.width / 2, readout.x + readout.width / 2];
  if (vertical) {
    const right = (across.context[0] + across.context[1]) / 2;
    return roundedPath([[right, middle + 20], [right, lanes.context], [nearest, lanes.context]]);
  }
  const down = /** @type {Spot} */ ([middle, across.context[1]]), turn = /** @type {Spot} */ ([middle, lanes.context]);
  /** @type {(x: number) => string} */
  const to = (x) => roundedPath([down, turn, [x, lanes.context]]);
  return to(nearest) + to(farthest);
}

/** Animates the drawing to another pose, calling `draw` with each intermediate pose and its share, from 0 to 1.
 * @param {DiagramState} state @param {Pose} to
 * @param {boolean} moves whether on a way, or at once
 * @param {(pose: Pose, share: number) => void} draw */
export function animateTo(state, to, moves, draw) {
  const from = state.pose;
  state.clock.pause();
  if (!from || !moves || from.weights.length !== to.weights.length) {
    state.pose = to;
    draw(to, 1);
    return;
  }
  state.clock.play(0, ANIMATION_TIME, (time) => {
    const share = eased(time / ANIMATION_TIME);
    const between = (/** @type {number} */ one, /** @type {number} */ other) => one + (other - one) * share;
    state.pose = share < 1 ? mapped(to, (row, name) => row.map((value, k) => between(from[name][k], value))) : to;
    draw(state.pose, share);
  });
}
