// Outlines of the ribbons from the source pieces to the context vector: each is as thick as its weight, except where it
// begins (its neck), where it is no wider than its column.

import { path, spot } from "./svg.js";

const CUTS = 22; // places at which a ribbon is cut: enough for a smooth edge
const NECK = 0.5; // share of the way after which a ribbon is as thick as its weight
const THINNEST = 0.12; // pixels below which nothing would be seen

/** The middle of each ribbon's end in the context vector, side by side in the order of the sentence.
 * @param {Float32Array} weights @param {number} from @param {number} flow */
export function ribbonEnds(weights, from, flow) {
  let here = from;
  return Array.from(weights, (weight) => {
    here += weight * flow;
    return here - (weight * flow) / 2;
  });
}

/** The middle of the context vector along the sentence: the mean position of the attention, clamped to the sentence.
 * @param {Plan} plan @param {Float32Array} weights */
export function meanPosition({ columns, first, last, flow }, weights) {
  const mean = columns.reduce((sum, { middle }, j) => sum + middle * weights[j], 0);
  return Math.min(Math.max(mean, first + flow / 2), Math.max(last, first + flow) - flow / 2);
}

/** The middle of a ribbon after a share `t` of its way: along and across.
 * @param {Plan} plan @param {Ribbon} ribbon @param {number} t @returns {[along: number, across: number]} */
export function ribbonMiddle({ across: { ribbons: [top, bottom] } }, { from, to }, t) {
  // A cubic with straight ends.
  return [from + (to - from) * t * t * (3 - 2 * t), top + (bottom - top) * (1.5 * t * (1 - t) + t ** 3)];
}

/** The outline of a ribbon, up to a `share` of its way. @param {Plan} plan @param {Ribbon} ribbon @param {number} [share] */
export function ribbonPath(plan, ribbon, share = 1) {
  const { from, to, thick, neck } = ribbon;
  if (thick < THINNEST || !share) return "";
  const [top, bottom] = plan.across.ribbons, deep = bottom - top, way = to - from;
  // A ribbon to a distant place is cut perpendicularly; a thick straight one would fold, and is cut along the sentence.
  const bent = Math.min(1, Math.abs(way) / (4 * thick)),
    mix = (/** @type {number} */ one, /** @type {number} */ other) => one + (other - one) * bent;
  /** @type {Spot[]} */
  const left = [], right = [];
  for (let k = 0; k <= CUTS; k += 1) {
    const t = share * k / CUTS, u = 1 - t, [along, across] = ribbonMiddle(plan, ribbon, t);
    const slopeAlong = way * 6 * t * u, slopeAcross = deep * (1.5 * (u - t) + 3 * t * t);
    const far = Math.hypot(slopeAlong, slopeAcross) || 1;
    const wider = Math.min(1, t / NECK), half = (neck + (thick - neck) * wider * wider * (3 - 2 * wider)) / 2;
    const [a, b] = [mix(1, slopeAcross / far) * half, mix(0, -slopeAlong / far) * half];
    left.push(spot(plan, along - a, across - b));
    right.unshift(spot(plan, along + a, across + b));
  }
  return `${path([...left, ...right])}Z`;
}
