// List items for the what-if cards of an exported translation, and unpacking of their gzipped data. Texts are set by
// textContent, so that they are never markup.

import { element } from "./drawn.js";

/**
 * Unpacks the data of a translation: gzipped JSON in base64.
 * @param {string} packed
 * @returns {Promise<LectureVersion>}
 */
export function unpackTranslation(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

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
