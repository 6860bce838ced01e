// The two sentences as words that can be clicked. Words are set by textContent, so nothing typed is ever read as markup.

import { find, findAll, letGo } from "../shared.js";
import { tellPointed } from "./pointing.js";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string} [text]
 */
function element(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/**
 * A word as its pieces, so that they read as parts of one word; each knows its step or its source piece.
 * @param {string[]} texts
 * @param {number[]} indices
 */
export function parts(texts, indices) {
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
 * A click on a word chooses the one of its pieces that the step looks at most; a second click lets go of it.
 * @param {SourceWord} word
 * @param {number[][]} orders
 * @param {PlayerControl["choose"]} choose
 */
function sourceWord(word, orders, choose) {
  const button = wordButton(word, parts(word.parts, word.pieces));
  button.onclick = (event) => {
    choose(({ step, source }) => ({
      source: source !== null && word.pieces.includes(source)
        ? null
        : orders[step].find((j) => word.pieces.includes(j)),
    }));
    letGo(event);
  };
  return button;
}

/**
 * A click chooses the piece under the pointer; the keyboard, which has no pointer, the first piece of the word.
 * @param {TargetWord} word
 * @param {PlayerControl["choose"]} choose
 */
function targetWord(word, choose) {
  const button = wordButton(word, parts(word.parts, word.steps));
  button.onclick = (event) => {
    const [first] = findAll(button, ".piece");
    const clicked = event.target instanceof HTMLElement ? event.target.closest(".piece") : null;
    const step = Number((clicked instanceof HTMLElement ? clicked : first).dataset.index);
    choose(() => ({ step }));
    letGo(event);
  };
  return button;
}

/**
 * Writes both sentences anew, of another translation.
 * @param {HTMLElement} root
 * @param {PlayerPayload} data
 * @param {PlayerControl["choose"]} choose
 */
export function buildSentences(root, { source, target, orders, spoken }, choose) {
  /** @type {<Word extends PlayerWord>(name: string, words: Word[], button: (word: Word) => HTMLElement) => void} */
  const line = (name, words, button) => {
    find(root, name).replaceChildren(...words.flatMap((word) => [...(word.space ? [" "] : []), button(word)]));
  };
  /** @type {(kind: "source" | "step", word: HTMLElement) => HTMLElement} */
  const pointing = (kind, word) => {
    tellPointed(root, word, kind);
    return word;
  };
  /** @type {(kind: "source" | "step", word: HTMLElement) => HTMLElement} */
  const again = (kind, word) => {
    word.tabIndex = -1; // the keyboard goes through the words once
    return pointing(kind, word);
  };
  for (const [k, lines] of [[".source", ".english"], [".target", ".french"]].entries()) {
    for (const name of lines) find(root, name).lang = spoken[k];
  }
  line(".source", source, (word) => pointing("source", sourceWord(word, orders, choose)));
  line(".target", target, (word) => pointing("step", targetWord(word, choose)));
  line(".english", source, (word) => again("source", sourceWord(word, orders, choose)));
  line(".french", target, (word) => again("step", targetWord(word, choose)));
}
