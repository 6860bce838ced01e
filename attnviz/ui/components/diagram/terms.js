// Writes symbols of a step's equations into the diagram, each next to its part: weight matrices at the lines that they
// multiply, gates and candidate state at the box that computes with them. Shown from the level of detail "numbers" on.

import { PROBABILITY_WIDTH } from "./plan.js";
import { addElement, addGroup } from "./svg.js";

export const TAPS = [0.24, 0.5, 0.76]; // shares of a box's width at which it takes in state, context and word

/** @param {Element} root @param {DiagramPayload} payload @param {Plan} plan */
export function drawTerms(root, { terms, readout }, plan) {
  if (!terms) return;
  const part = addGroup(root, "terms"), { decoder, vertical, across } = plan;
  if (across.query) drawQueryTerms(part, terms, plan);
  const { previous, lanes, after, likely, word } = decoder;
  const below = vertical
    ? /** @type {Spot} */ ([previous.x + previous.width / 2 + 7, previous.y + previous.height + 13])
    : /** @type {Spot} */ ([previous.x + previous.width + 10, lanes.word - 6]);
  drawTerm(part, below, terms.embedded);
  const free = drawInputTerms(part, terms.moving, after);
  drawTerm(part, [free, after.y - 10], terms.inside);
  const { state, ...others } = terms.readout;
  drawInputTerms(part, readout === "current" ? others : terms.readout, decoder.readout);
  const before = decoder.readout.x - (vertical ? 30 : 34);
  if (readout === "current") drawTerm(part, [before - 8, after.y + 4], state ?? [], "end");
  const scored = /** @type {Spot} */ (
    vertical
      ? [decoder.readout.x + 30, word.y - 9]
      : [(decoder.readout.x + decoder.readout.width + word.x - 38) / 2, decoder.readout.y + 3]
  );
  drawTerm(part, scored, terms.scores, vertical ? "start" : "middle");
  if (vertical) drawTerm(part, [likely[0], likely[1] - 19], terms.chance);
  else drawTerm(part, [likely[0] - PROBABILITY_WIDTH, likely[1]], [...terms.chance, ["=", ""]]);
}

/** The weight matrices of query, keys and energies.
 * @param {Element} parent @param {DiagramTerms} terms @param {Plan} plan */
function drawQueryTerms(parent, { query, key, energy }, { across, decoder, gutter, last, vertical }) {
  const [x, y] = decoder.queryFrom;
  if (vertical) {
    drawTerm(parent, [x + 7, last + 18], query);
    drawTerm(parent, [across.query + 9, across.key], key, "end");
    drawTerm(parent, [across.energy[0] + 17, across.key], energy);
    return;
  }
  const left = gutter - 40;
  drawTerm(parent, [left, y - 104], query);
  drawTerm(parent, [left, across.key], key);
  drawTerm(parent, [left, across.energyNumber], energy);
}

/** The weight matrices of a box's inputs, each at its arrow; returns the free position beside them.
 * @param {Element} parent @param {Partial<InputTerms>} inputs @param {Area} box */
function drawInputTerms(parent, inputs, { x, y, width }) {
  const names = /** @type {const} */ (["state", "context", "word"]);
  names.forEach((name, k) => drawTerm(parent, [x + width * TAPS[k] + 5, y - 12], inputs[name] ?? []));
  const beside = x + width * TAPS[2] + (inputs.word?.length ? 26 : 10);
  const bias = inputs.bias ?? [];
  if (bias.length) drawTerm(parent, [beside, y - 12], [["+", ""], ...bias]);
  return beside + (bias.length ? 28 : 0);
}

/** Symbols one after the other, their indices lowered.
 * @param {Element} parent @param {Spot} place @param {Term} written @param {"start" | "middle" | "end"} [anchor] */
function drawTerm(parent, [x, y], written, anchor = "start") {
  if (!written.length) return;
  const text = addElement(parent, "text", { x, y, class: "symbol formula", "text-anchor": anchor });
  let before = "", lowered = 0;
  for (const [letter, index] of written) {
    const symbols = [before, letter].filter((one) => /\p{L}/u.test(one));
    const apart = !before || before === "(" || "(),".includes(letter) ? 0 : symbols.length === 2 ? 2 : 5;
    const sign = addElement(
      text,
      "tspan",
      { dx: apart, dy: -lowered, class: symbols.includes(letter) ? "sign" : "" },
      letter,
    );
    lowered = index ? 3 : 0;
    if (index) addElement(sign, "tspan", { class: "index", dy: lowered, "data-index": index }, index);
    before = letter;
  }
}
