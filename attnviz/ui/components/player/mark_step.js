// Redraws the player at a step: marks the current step and source piece in the sentences, the controls and the bar at
// the top of the window.

import { fill, find, findAll, makeOneTabStop, number, write } from "../shared.js";
import { paintPointed, scrollBarToWords } from "./pointing.js";
import { pieceSpans } from "./word_buttons.js";

/** The current source piece: the chosen one, or the one of the largest weight.
 * @param {PlayerState} state @returns {number} */
export function sourceOf({ data, step, source }) {
  return source ?? data.orders[step][0];
}

/** The text of a source word's weight at a step, with the number of pieces in that sum.
 * @param {PlayerPayload} data @param {number} step @param {number} k @param {number} places */
function weightText({ source, weights }, step, k, places) {
  const { of } = source[k];
  return `α = ${number(weights[step][k], places)}${of && ` (${of})`}`;
}

/** @param {PlayerState} state @param {number} source */
function paintSource({ root, data, step, source: chosen }, source) {
  findAll(root, ".source .word, .english .word").forEach((word, place) => {
    const k = place % data.source.length, current = data.source[k].pieces.includes(source);
    word.title = weightText(data, step, k, 4);
    word.classList.toggle("current", current);
    word.classList.toggle("held", current && chosen !== null);
    word.ariaPressed = String(current && chosen !== null);
    markPieces(findAll(word, ".piece"), "seen", source);
  });
}

/** @param {HTMLElement[]} pieces @param {string} className @param {number} index of the one that gets the class */
const markPieces = (pieces, className, index) =>
  pieces.forEach((piece) => piece.classList.toggle(className, Number(piece.dataset.index) === index));

/** @param {PlayerState} state */
function paintTarget({ root, data, step }) {
  const pieces = findAll(root, ".target .piece, .french .piece");
  markPieces(pieces, "chosen", step);
  for (const piece of pieces) piece.classList.toggle("later", data.written && Number(piece.dataset.index) > step);
  for (const word of findAll(root, ".target .word, .french .word")) {
    const current = word.querySelector(".chosen") !== null;
    word.classList.toggle("current", current);
    word.ariaCurrent = current ? "step" : null;
  }
}

/** Whether no source word is named: all have the same weight, and the visitor has chosen none.
 * @param {PlayerPayload} data @param {number | null} chosen @param {number} step */
const isAlike = (data, chosen, step) => chosen === null && data.alike.includes(step);

/** Writes which source piece the figures show, and why. A chosen one stays at every step; its button deselects it.
 * @param {HTMLElement} line @param {PlayerState} state @param {number} source */
function paintShown(line, { data, source: chosen, step }, source) {
  const { words } = data;
  const held = chosen !== null, alike = isAlike(data, chosen, step);
  const k = data.source.findIndex(({ pieces }) => pieces.includes(source));
  const pieces = pieceSpans(data.source[k].parts, data.source[k].pieces);
  markPieces(pieces, "seen", source);
  const seen = find(line, ".seen");
  seen.replaceChildren(...pieces);
  seen.classList.toggle("held", held);
  seen.hidden = alike;
  write(find(line, ".name"), held ? words.examined : alike ? "" : words.looks);
  write(find(line, ".why"), held ? words.held : alike ? words.alike : words.strongest);
  find(line, ".follow").hidden = !held;
  line.title = weightText(data, step, k, 4);
}

/** Fills the bar at the top of the window, shown beside the stages: the current target word and source word.
 * @param {HTMLElement} bar @param {PlayerState} state @param {number} source */
function paintBar(bar, { data, source: chosen, step }, source) {
  const { words, weights } = data, alike = isAlike(data, chosen, step);
  const written = data.target.find(({ steps }) => steps.includes(step));
  const wrote = written ? pieceSpans(written.parts, written.steps) : [];
  markPieces(wrote, "chosen", step);
  const k = data.source.findIndex(({ pieces }) => pieces.includes(source));
  write(find(bar, ".at"), fill(words.at, { i: step + 1, n: weights.length }));
  find(bar, ".wrote").replaceChildren(...wrote);
  const look = alike ? words.alike : `${data.source[k].text}  ${weightText(data, step, k, 2)}`;
  write(find(bar, ".attended"), data.attends ? look : "");
}

/** Marks the step and source piece of `state`. @param {PlayerState} state */
export function paint(state) {
  const { root, data, step, player } = state, source = sourceOf(state);
  if (data.attends) paintSource(state, source);
  paintTarget(state);
  paintPointed(state);
  find(root, ".shown").hidden = !data.attends;
  if (data.attends) paintShown(find(root, ".shown"), state, source);
  paintBar(find(root, ".bar"), state, source);
  const count = data.weights.length, text = fill(data.words.step, { step: step + 1, count });
  player.write(data.words, text);
  Object.assign(find(root, ".slide"), { hidden: count < 2 || data.simple, title: text });
  scrollBarToWords(state, source);
  // Each sentence is one tab stop: the word of the source piece, and that of the step.
  const english = findAll(root, ".source .word"), french = findAll(root, ".target .word");
  makeOneTabStop(english, english[data.source.findIndex(({ pieces }) => pieces.includes(source))]);
  makeOneTabStop(french, french[data.target.findIndex(({ steps }) => steps.includes(step))]);
}
