// Draws the numbers of a step (a pose) in the diagram: colours of squares, bars of energies, ribbons of weights. Also
// unpacks them from the payload, and animates from the pose of one step to that of another. Of a moment of the step that
// is computed before the reader's eyes, what is not computed yet is dimmed, and what moves is drawn over the diagram in a
// group of its own. The diagram without that group is the still of the step.

import { between, clamp, eased } from "../clock.js";
import { write } from "../elements.js";
import { number, percent, unpackRows } from "../numbers.js";
import { ARRIVAL } from "./moments.js";
import { queryPath } from "./parts.js";
import { addElement, addGroup, area, colour, drawVector, path, roundedPath, spot } from "./svg.js";

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

/** Draws the numbers of a pose. */
export function drawPose(/** @type {DiagramDrawing} */ drawing, /** @type {Pose} */ pose) {
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

/** The middle of the context vector along the sentence. */
const contextMiddle = (/** @type {DiagramDrawing} */ { payload, plan }, /** @type {Float32Array} */ weights) =>
  payload.attention === "none" ? plan.last - plan.flow / 2 : meanPosition(plan, weights);

/** Draws the bars of energies, and writes their numbers.
 * @param {DiagramDrawing} drawing @param {Float32Array} energies */
function drawEnergies({ payload: { range: [low, high] }, plan, parts }, energies) {
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

/** The width of a bar of a source piece, in pixels. */
const barWidth = (/** @type {Plan} */ { cell }) => Math.min(cell, 26);

function placeBar(/** @type {SVGElement} */ bar, /** @type {Area} */ place) {
  for (const [name, value] of Object.entries(place)) {
    const text = value.toFixed(2);
    if (bar.getAttribute(name) !== text) bar.setAttribute(name, text);
  }
}

/** Writes the weights; in narrow columns only large ones, of which a larger one beside takes the room. */
export function writeWeights(/** @type {DiagramDrawing} */ { plan, parts }, /** @type {Float32Array} */ weights) {
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
function ribbonsOf(drawing, weights) {
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
  const to = (/** @type {number} */ x) => roundedPath([down, turn, [x, lanes.context]]);
  return to(nearest) + to(farthest);
}

/** Animates the drawing to another pose, calling `draw` with each intermediate pose and its share, from 0 to 1.
 * @param {DiagramState} state @param {Pose} to @param {boolean} moves whether on a way, or at once
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
    state.pose = share < 1
      ? mapped(to, (row, name) => row.map((value, k) => between(from[name][k], value, share)))
      : to;
    draw(state.pose, share);
  });
}

const CUTS = 22; // places at which a ribbon is cut: enough for a smooth edge
const NECK = 0.5; // share of the way after which a ribbon is as thick as its weight
const THINNEST = 0.12; // pixels below which nothing would be seen

/** The middle of each ribbon's end in the context vector, side by side in the order of the sentence.
 * @param {Float32Array} weights @param {number} from @param {number} flow */
function ribbonEnds(weights, from, flow) {
  let here = from;
  return Array.from(weights, (weight) => {
    here += weight * flow;
    return here - (weight * flow) / 2;
  });
}

/** The middle of the context vector along the sentence: the mean position of the attention, clamped to the sentence. */
function meanPosition(/** @type {Plan} */ { columns, first, last, flow }, /** @type {Float32Array} */ weights) {
  const mean = columns.reduce((sum, { middle }, j) => sum + middle * weights[j], 0);
  return Math.min(Math.max(mean, first + flow / 2), Math.max(last, first + flow) - flow / 2);
}

/** The middle of a ribbon after a share `t` of its way: along and across.
 * @param {Plan} plan @param {Ribbon} ribbon @param {number} t @returns {[along: number, across: number]} */
function ribbonMiddle({ across: { ribbons: [top, bottom] } }, { from, to }, t) {
  // A cubic with straight ends.
  return [between(from, to, eased(t)), top + (bottom - top) * (1.5 * t * (1 - t) + t ** 3)];
}

/** The outline of a ribbon, up to a `share` of its way. @param {Plan} plan @param {Ribbon} ribbon @param {number} [share] */
function ribbonPath(plan, ribbon, share = 1) {
  const { from, to, thick, neck } = ribbon;
  if (thick < THINNEST || !share) return "";
  const [top, bottom] = plan.across.ribbons, deep = bottom - top, way = to - from;
  // A ribbon to a distant place is cut perpendicularly; a thick straight one would fold, and is cut along the sentence.
  const bent = Math.min(1, Math.abs(way) / (4 * thick));
  /** @type {Spot[]} */
  const left = [], right = [];
  for (let k = 0; k <= CUTS; k += 1) {
    const t = share * k / CUTS, u = 1 - t, [along, across] = ribbonMiddle(plan, ribbon, t);
    const slopeAlong = way * 6 * t * u, slopeAcross = deep * (1.5 * (u - t) + 3 * t * t);
    const far = Math.hypot(slopeAlong, slopeAcross) || 1;
    const wider = Math.min(1, t / NECK), half = between(neck, thick, eased(wider)) / 2;
    const [a, b] = [between(1, slopeAcross / far, bent) * half, between(0, -slopeAlong / far, bent) * half];
    left.push(spot(plan, along - a, across - b));
    right.unshift(spot(plan, along + a, across + b));
  }
  return `${path([...left, ...right])}Z`;
}

const DIM = 0.14; // opacity of what is not computed yet
const FALL = 0.3; // share of an annotation's way before its ribbon begins
const CARRIED_FROM = 0.03; // the least weight whose annotation is seen on its way

/** Draws over the diagram what only moments have.
 * @param {Element} svg @param {DiagramDrawing} drawing @returns {MomentParts} */
export function addMomentParts(svg, { payload, plan }) {
  const group = addGroup(svg, "moment"), { across, flow, vertical, compact, decoder: { before, queryFrom } } = plan;
  svg.insertBefore(group, svg.querySelector(".reaches"));
  const attends = payload.attention !== "none", deep = across.context[1] - across.context[0];
  const sumAt = vertical
    ? { x: across.weight - 22, y: plan.last + 18 }
    : { x: queryFrom[0] - 8, y: across.weight + (compact ? 20 : 35) };
  const around = { x: before.x - 5, y: before.y - 5, width: before.width + 10, height: before.height + 10 };
  const query = attends ? roundedPath(queryPath(plan)) : "";
  const carried = addGroup(group, "vector"), box = area(plan, -flow / 2, -deep / 2, flow, deep);
  return {
    group,
    halo: addElement(group, "rect", { ...around, rx: 6, class: "halo" }),
    beam: addElement(group, "path", { d: query, pathLength: 1, class: "line state beam" }),
    bars: attends ? plan.columns.map(() => addElement(group, "rect", { class: "share", rx: 1.5 })) : [],
    gone: [],
    sum: addElement(group, "text", { ...sumAt, class: "number strong sum", "text-anchor": vertical ? "start" : "end" }),
    carried,
    squares: drawVector(carried, box, payload.squares.context, "frame context"),
    factor: addElement(group, "text", { class: "number strong factor", "text-anchor": vertical ? "end" : "start" }),
  };
}

function fade(/** @type {SVGElement} */ node, /** @type {number} */ opacity) {
  const text = opacity >= 1 ? "" : String(Math.round(opacity * 100) / 100);
  if (node.style.opacity !== text) node.style.opacity = text;
  if (!text && node.getAttribute("style") === "") node.removeAttribute("style");
}

/** The opacity of a part by the share of it that is computed. */
const dimmed = (/** @type {number} */ share) => between(DIM, 1, clamp(share));

/** The shares of its way at which the query meets the keys. */
function meetingShares(/** @type {Plan} */ plan) {
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

/** Fades the name of the row of the weights, which has other numbers before them. */
function fadeWeightName(/** @type {MomentParts} */ { group }, /** @type {number} */ opacity) {
  const names = /** @type {Element} */ (group.parentNode);
  for (const node of names.querySelectorAll('.way[data-stage="2"], .symbol.weight')) {
    fade(/** @type {SVGElement} */ (node), opacity);
  }
}

/** Writes the energies in the row of the weights. */
function writeCopies(/** @type {DiagramDrawing} */ { plan, parts }, /** @type {Float32Array} */ energies) {
  parts.weightNumbers.forEach((node, j) => {
    write(node, (plan.dense && !plan.vertical) || !Number.isFinite(energies[j]) ? "" : number(energies[j], 1));
    node.classList.remove("strong");
  });
}

/** How much of its ribbon an annotation has gone at a share of its time. */
const onRibbon = (/** @type {number} */ way) => eased(clamp((way / ARRIVAL - FALL) / (1 - FALL)));

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
  const down = fallen < 1 ? start + (across.ribbons[0] - start) * fallen : Math.min(deep, end);
  const place = spot(plan, along + (middle - along) * gone ** 3, down);
  const size = cell / flow + (1 - cell / flow) * gone, scaled = 1 - (1 - weight) * fallen;
  const to = place.map((one) => one.toFixed(1)).join(" ");
  drawn.carried.setAttribute("transform", `translate(${to}) scale(${size.toFixed(3)})`);
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
