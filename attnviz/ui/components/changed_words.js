// The words of a translation after a change: other ones are marked, removed ones struck through.

/**
 * @param {ChangedWord[]} words
 * @param {(word: string) => string} [removed] the description of a removed word
 */
export const changedWords = (words, removed) =>
  words.flatMap(({ text, kind, space }) => {
    const node = document.createElement(kind === "same" ? "span" : kind === "gone" ? "del" : "mark");
    node.textContent = text;
    if (kind === "gone" && removed) node.title = removed(text);
    return space ? [" ", node] : [node];
  });
