// Writes the labels of the diagram: the names of its parts with their symbols, the titles of the stages, which are links, and
// from the level of detail "numbers" on, symbols of the step's equations: weight matrices at the lines that they multiply,
// gates and candidate state at the box that computes with them.

import { PROBABILITY_WIDTH, TAPS } from "./plan.js";
import { addElement, addGroup, drawSymbol, writeFitted } from "./svg.js";

/** Names all parts.
 * @param {Element} root @param {DiagramPayload} payload @param {Plan} plan @param {StageTitle[]} stages
 * @param {Measure} measure */
export function drawNames(root, payload, plan, stages, measure) {
  const part = addGroup(root, "names"), attends = payload.attention !== "none";
  const { across, compact, gutter, decoder: { before, previous, readout, titles }, vertical, width } = plan;
  if (vertical) writeColumnNames(part, plan, attends);
  else writeRowNames(part, payload, plan, attends);
  const [energy, weight, context] = vertical
    ? /** @type {Spot[]} */ ([[across.energy[0] - 6, 15], [across.weight - 28, 15], [across.context[0] - 22, 15]])
    : /** @type {Spot[]} */ ([[0, across.energy[1] - 14], [0, across.weight], [0, across.context[0] + 19]]);
  /** @type {Record<number, Spot>} */
  const places = { 1: energy, 2: weight, 3: context, 4: titles[4], 5: titles[5] };
  for (const stage of stages) {
    const maxWidth = stage.number > 3 ? 260 : gutter - (compact ? 18 : 60);
    const lines = compact ? [stage.name] : wrappedLines(stage.title, maxWidth, measure);
    const beside = stage.number > 3 || compact ? maxWidth : maxWidth - 8; // the symbols at the right begin 8 px earlier
    const fitted = !vertical ? beside : stage.number === 5 ? width - titles[5][0] - 26 : readout.x;
    addStageLink(part, stage, places[stage.number], vertical && stage.number < 4 ? [] : lines, fitted, measure);
  }
  if (attends) {
    const named = compact ? measure(stages.find(({ number }) => number === 2)?.name ?? "", 14) + 5 : 0;
    const place = { x: weight[0] + (vertical ? 22 : 24 + named), y: weight[1] + (vertical || compact ? 0 : 17) };
    addElement(part, "text", { ...place, class: "by-hand" }, payload.words.hand);
  }
  if (vertical || compact) return;
  // What goes into the decoder, at the left edge; the state of the first step has a name of its own.
  const middle = (/** @type {Area} */ { y, height }) => y + height / 2 + 5;
  addElement(part, "text", { x: 0, y: middle(previous), class: "name" }, payload.words.previous);
  addElement(part, "text", { x: 0, y: middle(before), class: "name", "data-text": "state" });
}

/** @param {Element} parent @param {DiagramPayload} payload @param {Plan} plan @param {boolean} attends */
function writeRowNames(parent, { words }, { across, compact, gutter, decoder: { queryFrom } }, attends) {
  const left = gutter - 40,
    middle = (/** @type {[number, number]} */ [from, to]) => (from + to) / 2 + 5;
  /** @type {[string, number, string, ("→" | "←")?][]} */
  const named = [[words.source, across.words, "x"]];
  if (compact) named.push([words.annotation, middle([across.forward[0], across.backward[1]]), "h"]);
  else {
    named.push([words.forward, middle(across.forward), "h", "→"], [words.backward, middle(across.backward), "h", "←"]);
    if (attends) named.push([words.annotation, across.backward[1] + 21, "h"]);
  }
  for (const [text, y, letter, way] of named) {
    writeFitted(addElement(parent, "text", { x: 0, y, class: "name", "data-width": gutter - 4 }), text);
    if (!compact) drawSymbol(parent, [left, y], letter, "j", { way, className: "encoder" });
  }
  if (across.key) {
    addElement(parent, "text", { x: 0, y: across.key, class: "name" }, words.key);
    addElement(parent, "text", { x: 0, y: queryFrom[1] - 104, class: "name" }, words.query);
  }
  if (!attends || compact) return;
  drawSymbol(parent, [left, across.energy[1] - 14], "e", "⟦i⟧,j");
  drawSymbol(parent, [left, across.weight], "α", "⟦i⟧,j", { className: "weight" });
}

/** @param {Element} parent @param {Plan} plan @param {boolean} attends */
function writeColumnNames(parent, { across, columns }, attends) {
  const y = 26;
  drawSymbol(parent, [2, y], "x", "j", { className: "encoder" });
  drawSymbol(parent, [across.forward[0] + 6, y], "h", "j", { way: "→", className: "encoder" });
  drawSymbol(parent, [across.backward[0] + 6, y], "h", "j", { way: "←", className: "encoder" });
  if (!attends) return;
  const end = columns[columns.length - 1];
  drawSymbol(parent, [across.backward[0] - 12, end.middle + end.width / 2 + 17], "h", "j", { className: "encoder" });
  drawSymbol(parent, [across.energy[0] + 14, y], "e", "⟦i⟧,j");
  drawSymbol(parent, [across.weight - 8, y], "α", "⟦i⟧,j", { className: "weight" });
}

/** The title of a stage, a link to it for a pointer: the keyboard has the cards above the diagram.
 * @param {Element} parent @param {StageTitle} stage @param {Spot} place @param {string[]} lines
 * @param {number} maxWidth @param {Measure} measure */
function addStageLink(parent, { number: stage, place: shownAs }, [x, y], lines, maxWidth, measure) {
  const way = addGroup(parent, "way");
  way.dataset.stage = String(stage);
  const wide = Math.max(0, ...lines.map((line) => measure(line, 14))), top = y - (lines.length > 1 ? 18 : 0);
  const box = { x: x - 3, y: top - 18, width: wide + 30, height: 26 + 17 * Math.max(lines.length - 1, 0) };
  addElement(way, "rect", { ...box, rx: 5, class: "hit-area" });
  addElement(way, "circle", { cx: x + 9, cy: top - 5, r: 9, class: "badge" });
  addElement(way, "text", { x: x + 9, y: top - 0.5, class: "place", "text-anchor": "middle" }, String(shownAs));
  lines.forEach((line, k) =>
    writeFitted(addElement(way, "text", { x: x + 24, y: top + 17 * k, class: "title", "data-width": maxWidth }), line)
  );
}

/** Breaks a text into lines of at most `maxWidth` pixels, unless a word is longer.
 * @param {string} text @param {number} maxWidth @param {Measure} measure */
function wrappedLines(text, maxWidth, measure) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const here = lines[lines.length - 1], longer = here ? `${here} ${word}` : word;
    if (here && measure(longer, 14) > maxWidth) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

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
  const { x, y, width } = decoder.readout, middle = (x + width + word.x - 38) / 2;
  drawTerm(part, vertical ? [x + 30, word.y - 9] : [middle, y + 3], terms.scores, vertical ? "start" : "middle");
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
    const attributes = { dx: apart, dy: -lowered, class: symbols.includes(letter) ? "sign" : "" };
    const sign = addElement(text, "tspan", attributes, letter);
    lowered = index ? 3 : 0;
    if (index) addElement(sign, "tspan", { class: "index", dy: lowered, "data-index": index }, index);
    before = letter;
  }
}
