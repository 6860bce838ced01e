// Colours the sentences of the player by attention when a word is hovered or focused, here or in any figure of the
// view: a source word shows which words attended to it, a written word what it attended to. Also scrolls the bar at the
// top of the window to the current words.

import { find, findAll, shade } from "../shared.js";
import { sendPointed } from "../view.js";

/** Colours both sentences, also in the bar at the top of the window: source words by the weights of the hovered or
 * current step, target words by their weight on the hovered source word.
 * @param {PlayerState} state */
export function paintPointed({ root, data, step, pointed }) {
  const { source, target, weights, attends } = data;
  const from = pointed?.step ?? step, place = pointed?.source;
  const column = attends && place !== undefined ? source.findIndex(({ pieces }) => pieces.includes(place)) : -1;
  findAll(root, ".source .word, .english .word").forEach((word, place) => {
    const k = place % source.length;
    if (attends) shade(word, weights[from]?.[k] ?? 0);
    word.classList.toggle("pointed", k === column);
  });
  findAll(root, ".target .word, .french .word").forEach((word, place) => {
    const { steps } = target[place % target.length];
    const mean = steps.reduce((sum, i) => sum + (weights[i]?.[column] ?? 0), 0) / steps.length;
    word.classList.toggle("asked", column >= 0);
    word.classList.toggle("pointed", pointed?.step !== undefined && steps.includes(pointed.step));
    shade(word, column >= 0 ? mean : 0);
  });
}

/** Makes a word report when it is hovered or has the keyboard focus.
 * @param {HTMLElement} root @param {HTMLElement} word @param {"source" | "step"} kind */
export function reportPointing(root, word, kind) {
  /** @param {Event} event */
  const point = (event) => {
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

/** Scrolls the bar at the top of the window to the current words. @param {PlayerState} state @param {number} source */
export function scrollBarToWords({ root, data, step }, source) {
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
