// The words of a translation after a change: other ones are marked, removed ones struck through.

import { element } from "./shared.js";

/** @param {ChangedWord[]} words
 * @param {(word: string) => string} [removed] the description of a removed word */
export const changedWords = (words, removed) =>
  words.flatMap(({ text, kind, space }) => {
    const node = element(kind === "same" ? "span" : kind === "gone" ? "del" : "mark", "", text);
    if (kind === "gone" && removed) node.title = removed(text);
    return space ? [" ", node] : [node];
  });
