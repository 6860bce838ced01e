// Fills the player and its bar with both sentences; a click on a word chooses its step or source piece. Texts are set by
// textContent, so that typed text is never markup.

import { button, element, find, markAdjoining } from "../shared.js";
import { send } from "../view.js";
import { reportPointing } from "./pointing.js";

/** The pieces of a word as spans; each has the index of its step or its source piece.
 * @param {string[]} texts @param {number[]} indices */
export const pieceSpans = (texts, indices) =>
  texts.map((text, k) => element("span", "piece", text, { dataset: { index: indices[k] } }));

/** @param {PlayerWord} word @param {number[]} indices @param {(event: MouseEvent) => void} act */
function wordButton({ end, parts }, indices, act) {
  const made = button(end ? "word end" : "word", undefined, act);
  made.append(...pieceSpans(parts, indices));
  return made;
}

/** A click on a word chooses its most attended piece; a second click deselects it.
 * @param {SourceWord} word @param {PlayerState} state */
const sourceWord = (word, state) =>
  wordButton(word, word.pieces, () => {
    const { root, step, source, data: { orders } } = state, chosen = source !== null && word.pieces.includes(source);
    send(root, "choose", { source: chosen ? null : orders[step].find((j) => word.pieces.includes(j)) });
  });

/** A click chooses the piece under the pointer; the keyboard the first piece of the word.
 * @param {TargetWord} word @param {PlayerState} state */
const targetWord = (word, { root }) =>
  wordButton(word, word.steps, ({ target }) => {
    const piece = target instanceof HTMLElement ? target.closest(".piece") : null;
    send(root, "choose", { step: piece instanceof HTMLElement ? Number(piece.dataset.index) : word.steps[0] });
  });

/** Draws both sentences of a new translation. @param {PlayerState} state */
export function buildSentences(state) {
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
