// What is pointed at, by the mouse or the focus of the keyboard, here or in any picture of the view: a source word shows who
// looked at it, a written word where it looked.

import { MOST_GREEN } from "../../../figures/constants.js";
import { find, findAll } from "../shared.js";
import { pointAt } from "../view.js";

const MOST_VIOLET = 0.42; // share of the decoder's colour behind a written word that gave a source word all of its weight

/**
 * The colour behind a word, stronger with the square root of its weight.
 * @param {HTMLElement} word
 * @param {number} weight
 * @param {number} most
 */
function tint(word, weight, most) {
  word.style.setProperty("--weight", `${Math.round(100 * most * Math.sqrt(weight))}%`);
}

/**
 * Colours both sentences, and those in the line at the top of the window: the source by where the step looked that is
 * pointed at or on show, the target by how much each word looked at the source word that is pointed at.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 */
export function paintPointed(root, { data, step, pointed }) {
  const { source, target, weights, looks } = data;
  const from = pointed?.step ?? step, place = pointed?.source;
  const column = looks && place !== undefined ? source.findIndex(({ pieces }) => pieces.includes(place)) : -1;
  for (const name of [".source", ".english"]) {
    findAll(root, `${name} .word`).forEach((word, k) => {
      if (looks) tint(word, weights[from]?.[k] ?? 0, MOST_GREEN);
      word.classList.toggle("pointed", k === column);
    });
  }
  for (const name of [".target", ".french"]) {
    findAll(root, `${name} .word`).forEach((word, k) => {
      const { steps } = target[k];
      const mean = steps.reduce((sum, i) => sum + (weights[i]?.[column] ?? 0), 0) / steps.length;
      word.classList.toggle("asked", column >= 0);
      word.classList.toggle("pointed", pointed?.step !== undefined && steps.includes(pointed.step));
      tint(word, column >= 0 ? mean : 0, MOST_VIOLET);
    });
  }
}

/**
 * Has a word tell the view when it is pointed at; by the keyboard it is when it has the focus.
 * @param {HTMLElement} root
 * @param {HTMLElement} word
 * @param {"source" | "step"} kind
 */
export function tellPointed(root, word, kind) {
  /** @param {Event} event */
  const point = (event) => {
    const over = event.target instanceof HTMLElement ? event.target.closest(".piece") : null;
    const piece = over instanceof HTMLElement ? over : find(word, ".piece");
    pointAt(root, { [kind]: Number(piece.dataset.index) });
  };
  word.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") point(event); // a finger chooses, and never leaves
  });
  word.addEventListener("pointerleave", () => pointAt(root, null));
  word.addEventListener("focus", (event) => {
    if (word.matches(":focus-visible")) point(event);
  });
  word.addEventListener("blur", () => pointAt(root, null));
}

/**
 * Brings the words on show into sight in the line at the top of the window.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {number} source
 */
export function aimPair(root, { data, step }, source) {
  if (find(root, ".bar").hidden) return;
  const places = [
    [".english", data.source.findIndex(({ pieces }) => pieces.includes(source))],
    [".french", data.target.findIndex(({ steps }) => steps.includes(step))],
  ];
  for (const [name, k] of /** @type {[string, number][]} */ (places)) {
    const line = find(root, name), word = findAll(line, ".word")[k];
    if (word && line.scrollWidth > line.clientWidth) {
      line.scrollLeft = word.offsetLeft - line.offsetLeft - (line.clientWidth - word.offsetWidth) / 2;
    }
  }
}
