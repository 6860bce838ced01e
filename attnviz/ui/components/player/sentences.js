// Both sentences of the player and of the bar at the top of the window: a click on a word chooses its step or source piece;
// a word that is hovered or focused, here or in any figure of the view, colours the sentences by attention; a step marks its
// words, the controls and the bar.

import { button, element, find, findAll, markAdjoining, shade, write } from "../elements.js";
import { strongestFirst } from "../chart/weights.js";
import { makeOneTabStop } from "../keyboard.js";
import { fill, number } from "../numbers.js";
import { send, sendPointed } from "../view.js";

/** The pieces of a word as spans; each has the index of its step or its source piece. */
const pieceSpans = (/** @type {string[]} */ texts, /** @type {number[]} */ indices) =>
  texts.map((text, k) => element("span", "piece", text, { dataset: { index: indices[k] } }));

/** @param {PlayerWord} word @param {number[]} indices @param {(event: MouseEvent) => void} act */
const wordButton = ({ end, parts }, indices, act) =>
  button(end ? "word end" : "word", act, ...pieceSpans(parts, indices));

/** A click on a word chooses its most attended piece; a second click deselects it. */
const sourceWord = (/** @type {SourceWord} */ word, /** @type {PlayerState} */ state) =>
  wordButton(word, word.pieces, () => {
    const { root, source } = state, chosen = source !== null && word.pieces.includes(source);
    send(root, "choose", { source: chosen ? null : strongestOf(state, word) });
  });

/** A click chooses the piece under the pointer; the keyboard the first piece of the word. */
const targetWord = (/** @type {TargetWord} */ word, /** @type {PlayerState} */ { root }) =>
  wordButton(word, word.steps, ({ target }) => {
    const piece = target instanceof HTMLElement ? target.closest(".piece") : null;
    send(root, "choose", { step: piece instanceof HTMLElement ? Number(piece.dataset.index) : word.steps[0] });
  });

/** Draws both sentences of a new translation. */
export function buildSentences(/** @type {PlayerState} */ state) {
  const { root, data: { source, target, spoken } } = state;
  /** @type {(name: string, kind: "source" | "step", words: PlayerWord[], buttons: HTMLButtonElement[]) => void} */
  const line = (name, kind, words, buttons) => {
    const place = find(root, name);
    place.lang = spoken[Number(kind === "step")];
    place.replaceChildren();
    markAdjoining(buttons, words);
    for (const [k, { space, parts }] of words.entries()) {
      reportPointing(root, buttons[k], kind);
      if (place.closest(".bar")) buttons[k].tabIndex = -1; // the copies in the bar are no tab stops
      // Punctuation stays on the line of the word before it.
      if (space || !k || /[\p{L}\p{N}]/u.test(parts.join(""))) {
        place.append(space ? " " : "", element("span", "unbroken"));
      }
      place.lastElementChild?.append(buttons[k]);
    }
  };
  for (const name of [".source", ".english"]) {
    line(name, "source", source, source.map((word) => sourceWord(word, state)));
  }
  for (const name of [".target", ".french"]) line(name, "step", target, target.map((word) => targetWord(word, state)));
}

/** Colours both sentences, also in the bar at the top of the window: source words by the weights of the hovered or
 * current step, target words by their weight on the hovered source word. */
export function paintPointed(/** @type {PlayerState} */ state) {
  const { root, data: { source, target, attends }, step, pointed } = state;
  const from = pointed?.step ?? step, place = pointed?.source;
  const column = attends && place !== undefined ? source.findIndex(({ pieces }) => pieces.includes(place)) : -1;
  findAll(root, ".source .word, .english .word").forEach((word, place) => {
    const k = place % source.length;
    if (attends) shade(word, weightOf(state, from, k));
    word.classList.toggle("pointed", k === column);
  });
  findAll(root, ".target .word, .french .word").forEach((word, place) => {
    const { steps } = target[place % target.length];
    const mean = column < 0 ? 0 : steps.reduce((sum, i) => sum + weightOf(state, i, column), 0) / steps.length;
    word.classList.toggle("asked", column >= 0);
    word.classList.toggle("pointed", pointed?.step !== undefined && steps.includes(pointed.step));
    shade(word, mean);
  });
}

/** Makes a word report when it is hovered or has the keyboard focus.
 * @param {HTMLElement} root @param {HTMLElement} word @param {"source" | "step"} kind */
function reportPointing(root, word, kind) {
  const point = (/** @type {Event} */ event) => {
    const over = event.target instanceof HTMLElement ? event.target.closest(".piece") : null;
    const piece = over instanceof HTMLElement ? over : find(word, ".piece");
    sendPointed(root, { [kind]: Number(piece.dataset.index) });
  };
  word.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") point(event); // a touch chooses, and sends no pointerleave
  });
  word.addEventListener("pointerleave", () => sendPointed(root, null));
  word.addEventListener("focus", (event) => {
    if (word.matches(":focus-visible")) point(event);
  });
  word.addEventListener("blur", () => sendPointed(root, null));
}

/** Scrolls the bar at the top of the window to the current words. */
export function scrollBarToWords(/** @type {PlayerState} */ { root }) {
  if (find(root, ".bar").hidden) return;
  for (const line of findAll(root, ".english, .french")) {
    const [word] = findAll(line, ".current");
    if (!word || line.scrollWidth <= line.clientWidth) continue;
    line.scrollLeft = word.offsetLeft - line.offsetLeft - (line.clientWidth - word.offsetWidth) / 2;
  }
}

/** The source pieces by decreasing weight at the current step. */
export const strongestPieces = (/** @type {PlayerState} */ { alignment, step }) => strongestFirst(alignment[step]);

/** The piece of a source word that has its largest weight at the current step. */
export const strongestOf = (/** @type {PlayerState} */ state, /** @type {SourceWord} */ { pieces }) =>
  strongestPieces(state).find((j) => pieces.includes(j));

/** The current source piece: the chosen one, or the one of the largest weight. */
export const sourceOf = (/** @type {PlayerState} */ state) => state.source ?? strongestPieces(state)[0];

/** The weight of source word `k` at a step: the sum of those of its pieces; 0 at a step that the translation does not have.
 * @param {PlayerState} state @param {number} step @param {number} k */
const weightOf = ({ data, alignment }, step, k) =>
  data.source[k].pieces.reduce((sum, j) => sum + (alignment[step]?.[j] ?? 0), 0);

/** The text of the weight of source word `k` at the current step, with the number of pieces in that sum.
 * @param {PlayerState} state @param {number} k @param {number} places */
function weightText(state, k, places) {
  const { of } = state.data.source[k];
  return `α = ${number(weightOf(state, state.step, k), places)}${of && ` (${of})`}`;
}

function paintSource(/** @type {PlayerState} */ state, /** @type {number} */ source) {
  const { root, data, source: chosen } = state;
  findAll(root, ".source .word, .english .word").forEach((word, place) => {
    const k = place % data.source.length, current = data.source[k].pieces.includes(source);
    word.title = weightText(state, k, 4);
    word.classList.toggle("current", current);
    word.classList.toggle("held", current && chosen !== null);
    word.ariaPressed = String(current && chosen !== null);
    markPieces(findAll(word, ".piece"), "seen", source);
  });
}

/** @param {HTMLElement[]} pieces @param {string} className @param {number} index of the one that gets the class */
const markPieces = (pieces, className, index) =>
  pieces.forEach((piece) => piece.classList.toggle(className, Number(piece.dataset.index) === index));

function paintTarget(/** @type {PlayerState} */ { root, data, step }) {
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
function paintShown(line, state, source) {
  const { data, source: chosen, step } = state, { words } = data;
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
  line.title = weightText(state, k, 4);
}

/** Fills the bar at the top of the window, shown beside the stages: the current target word and source word.
 * @param {HTMLElement} bar @param {PlayerState} state @param {number} source */
function paintBar(bar, state, source) {
  const { data, source: chosen, step } = state, { words } = data, alike = isAlike(data, chosen, step);
  const written = data.target.find(({ steps }) => steps.includes(step));
  const wrote = written ? pieceSpans(written.parts, written.steps) : [];
  markPieces(wrote, "chosen", step);
  const k = data.source.findIndex(({ pieces }) => pieces.includes(source));
  write(find(bar, ".at"), fill(words.at, { i: step + 1, n: state.alignment.length }));
  find(bar, ".wrote").replaceChildren(...wrote);
  const look = alike ? words.alike : `${data.source[k].text}  ${weightText(state, k, 2)}`;
  write(find(bar, ".attended"), data.attends ? look : "");
}

/** Marks the step and source piece of `state`. */
export function paint(/** @type {PlayerState} */ state) {
  const { root, data, step, player } = state, source = sourceOf(state);
  if (data.attends) paintSource(state, source);
  paintTarget(state);
  paintPointed(state);
  find(root, ".shown").hidden = !data.attends;
  if (data.attends) paintShown(find(root, ".shown"), state, source);
  paintBar(find(root, ".bar"), state, source);
  const count = state.alignment.length, text = fill(data.words.step, { step: step + 1, count });
  player.write(data.words, text);
  Object.assign(find(root, ".slide"), { hidden: count < 2 || data.simple, title: text });
  scrollBarToWords(state);
  // Each sentence is one tab stop: the word of the source piece, and that of the step.
  const english = findAll(root, ".source .word"), french = findAll(root, ".target .word");
  makeOneTabStop(english, english[data.source.findIndex(({ pieces }) => pieces.includes(source))]);
  makeOneTabStop(french, french[data.target.findIndex(({ steps }) => steps.includes(step))]);
}
