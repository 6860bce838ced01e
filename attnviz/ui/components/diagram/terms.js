// The other symbols of a step's equations, each next to its part: weight matrices at the lines that they multiply, gates
// and candidate at the box that computes with them.

import { CHANCE, GUTTER } from "./plan.js";
import { group, put } from "./svg.js";

export const TAPS = [0.24, 0.5, 0.76]; // shares of a box's width at which it takes in state, context and word

/**
 * @param {Element} root
 * @param {DiagramPayload} payload
 * @param {Plan} plan
 */
export function drawTerms(root, { terms, readout }, plan) {
  if (!terms) return;
  const part = group(root, "terms"), { decoder, standing, across } = plan;
  if (across.query) drawQueryTerms(part, terms, plan);
  const { previous, lanes, after, likely, word } = decoder;
  const below = standing
    ? /** @type {Spot} */ ([previous.x + previous.width / 2 + 7, previous.y + previous.height + 13])
    : /** @type {Spot} */ ([previous.x + previous.width + 10, lanes.word - 6]);
  term(part, below, terms.embedded);
  const free = drawInputTerms(part, terms.moving, after);
  term(part, [free, after.y - 10], terms.inside);
  const { state, ...others } = terms.readout;
  drawInputTerms(part, readout === "current" ? others : terms.readout, decoder.readout);
  const before = decoder.readout.x - (standing ? 30 : 34);
  if (readout === "current") term(part, [before - 8, after.y + 4], state ?? [], "end");
  const scored = /** @type {Spot} */ (
    standing
      ? [decoder.readout.x + 30, word.y - 9]
      : [(decoder.readout.x + decoder.readout.width + word.x - 38) / 2, decoder.readout.y + 3]
  );
  term(part, scored, terms.scores, standing ? "start" : "middle");
  if (standing) term(part, [likely[0], likely[1] - 19], terms.chance);
  else term(part, [likely[0] - CHANCE, likely[1]], [...terms.chance, ["=", ""]]);
}

/**
 * The weight matrices of query, keys and energies.
 * @param {Element} parent
 * @param {DiagramTerms} terms
 * @param {Plan} plan
 */
function drawQueryTerms(parent, { query, key, energy }, { across, decoder, last, standing }) {
  const [x, y] = decoder.queryFrom;
  if (standing) {
    term(parent, [x + 7, last + 18], query);
    term(parent, [across.query + 9, across.key], key, "end");
    term(parent, [across.energy[0] + 17, across.key], energy);
    return;
  }
  const left = GUTTER - 40;
  term(parent, [left, y - 104], query);
  term(parent, [left, across.key], key);
  term(parent, [left, across.energyNumber], energy);
}

/**
 * The weight matrices of a box's inputs, each at its arrow; returns the free position beside them.
 * @param {Element} parent
 * @param {Partial<InputTerms>} inputs
 * @param {Area} box
 */
function drawInputTerms(parent, inputs, { x, y, width }) {
  const names = /** @type {const} */ (["state", "context", "word"]);
  names.forEach((name, k) => term(parent, [x + width * TAPS[k] + 5, y - 12], inputs[name] ?? []));
  const beside = x + width * TAPS[2] + (inputs.word?.length ? 26 : 10);
  const bias = inputs.bias ?? [];
  if (bias.length) term(parent, [beside, y - 12], [["+", ""], ...bias]);
  return beside + (bias.length ? 28 : 0);
}

/**
 * Symbols one after the other, their indices lowered.
 * @param {Element} parent
 * @param {Spot} place
 * @param {Term} written
 * @param {"start" | "middle" | "end"} [anchor]
 */
function term(parent, [x, y], written, anchor = "start") {
  if (!written.length) return;
  const text = put(parent, "text", { x, y, class: "symbol term", "text-anchor": anchor });
  let before = "", lowered = 0;
  for (const [letter, index] of written) {
    const symbols = [before, letter].filter((one) => /\p{L}/u.test(one));
    const apart = !before || before === "(" || "(),".includes(letter) ? 0 : symbols.length === 2 ? 2 : 5;
    const sign = put(text, "tspan", { dx: apart, dy: -lowered, class: symbols.includes(letter) ? "sign" : "" }, letter);
    lowered = index ? 3 : 0;
    if (index) put(sign, "tspan", { class: "index", dy: lowered, "data-index": index }, index);
    before = letter;
  }
}
