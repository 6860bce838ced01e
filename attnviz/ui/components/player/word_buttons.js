// Fills the player and its bar with both sentences; a click on a word chooses its step or source piece. Texts are set by
// textContent, so that typed text is never markup.

import { element, find, findAll, markAdjoining, onPress } from "../shared.js";
import { reportPointing } from "./pointing.js";

/**
 * The pieces of a word as spans; each has the index of its step or its source piece.
 * @param {string[]} texts
 * @param {number[]} indices
 */
export function pieceSpans(texts, indices) {
  return texts.map((text, k) => {
    const span = element("span", "piece", text);
    span.dataset.index = String(indices[k]);
    return span;
  });
}

/**
 * @param {PlayerWord} word
 * @param {HTMLElement[]} pieces
 */
function wordButton({ end }, pieces) {
  const button = element("button", end ? "word end" : "word");
  button.type = "button";
  button.append(...pieces);
  return button;
}

/**
 * A click on a word chooses its most attended piece; a second click deselects it.
 * @param {SourceWord} word
 * @param {number[][]} orders
 * @param {PlayerControl["choose"]} choose
 */
function sourceWord(word, orders, choose) {
  const button = wordButton(word, pieceSpans(word.parts, word.pieces));
  onPress(button, () => {
    choose(({ step, source }) => ({
      source: source !== null && word.pieces.includes(source)
        ? null
        : orders[step].find((j) => word.pieces.includes(j)),
    }));
  });
  return button;
}

/**
 * A click chooses the piece under the pointer; the keyboard the first piece of the word.
 * @param {TargetWord} word
 * @param {PlayerControl["choose"]} choose
 */
function targetWord(word, choose) {
  const button = wordButton(word, pieceSpans(word.parts, word.steps));
  onPress(button, (event) => {
    const [first] = findAll(button, ".piece");
    const clicked = event.target instanceof HTMLElement ? event.target.closest(".piece") : null;
    const step = Number((clicked instanceof HTMLElement ? clicked : first).dataset.index);
    choose(() => ({ step }));
  });
  return button;
}

/**
 * Draws both sentences of a new translation.
 * @param {HTMLElement} root
 * @param {PlayerPayload} data
 * @param {PlayerControl["choose"]} choose
 */
export function buildSentences(root, { source, target, orders, spoken }, choose) {
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
    line(name, "source", source, source.map((word) => sourceWord(word, orders, choose)));
  }
  for (const name of [".target", ".french"]) line(name, "step", target, target.map((word) => targetWord(word, choose)));
}
