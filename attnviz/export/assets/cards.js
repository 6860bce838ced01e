// List items for the what-if cards of an exported translation. Texts are set by textContent, so that they are never
// markup.

import { element } from "./drawn.js";

/**
 * A card with its button; the words that differ from the first translation are marked.
 * @param {LectureCard} card
 * @param {number} number
 * @param {Record<string, string>} words
 */
export function cardItem({ description, on, words: written, per_word: rate }, number, words) {
  const button = element("button", { type: "button" });
  const head = [number ? `${number} ` : "", description, on ? ` ${on}` : ""].join("");
  const text = element("span", { lang: "fr" });
  for (const { text: word, kind, space } of written) {
    if (space) text.append(" ");
    text.append(element(kind === "same" ? "span" : kind === "gone" ? "del" : "mark", { textContent: word }));
  }
  const likely = element("small", { textContent: `${words.rate} ${rate}`, title: words.about });
  button.append(element("small", { textContent: head }), " ", likely, " ", text);
  const item = element("li", {});
  item.append(button);
  return item;
}
