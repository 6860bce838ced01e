// Writes sentences of a view in which the terms of the field are underlined buttons (card.js opens their cards).

import { element, findAll, write } from "../elements.js";
import { viewState } from "../view.js";

/** Writes a text in which the first occurrence of each term of the view is a button. If a term had the focus, the same
 * term of the new text gets it, or else the stage.
 * @param {HTMLElement} root @param {HTMLElement} node @param {string} text */
export function writeWithTerms(root, node, text) {
  const [focused] = findAll(node, "[data-term]:focus");
  writeParts(root, node, text);
  if (!focused || focused.isConnected) return;
  const [term] = findAll(node, `[data-term="${focused.dataset.term}"]`);
  /** @type {HTMLElement | null} */
  const stage = node.closest("[class*='st-key-stage_'], [class*='st-key-one_picture']");
  if (!term && stage) stage.tabIndex = -1;
  (term ?? stage)?.focus({ preventScroll: true });
}

/** @param {HTMLElement} root @param {HTMLElement} node @param {string} text */
function writeParts(root, node, text) {
  const cards = viewState(root).view?.terms.cards ?? [];
  const found = cards.flatMap(({ forms }, index) => {
    // A word in quotation marks is a word of the sentence.
    const match = new RegExp(`(?<![\\p{L}“«\u00a0])(?:${forms})(?!\\p{L})`, "iu").exec(text);
    return match ? [{ index, at: match.index, word: match[0] }] : [];
  }).sort((one, other) => one.at - other.at);
  if (!found.length) return write(node, text);
  const key = `${text}${found.map(({ index }) => index)}`;
  if (node.dataset.written === key && node.childElementCount) return;
  node.dataset.written = key;
  node.replaceChildren();
  let end = 0;
  for (const { index, at, word } of found) {
    if (at < end) continue;
    node.append(text.slice(end, at), element("button", "term", word, { dataset: { term: index } }));
    end = at + word.length;
  }
  node.append(text.slice(end));
}
