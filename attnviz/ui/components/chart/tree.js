// The tree of a beam search: a click on the end of a hypothesis has it as the translation, on any other piece it leads to
// the step that wrote it.

/**
 * The ids of the pieces of a hypothesis, from the first step on.
 * @param {TreeMeta} tree
 * @param {number} node
 * @returns {number[]}
 */
function piecesOf({ parents, pieces }, node) {
  const found = [];
  for (let here = node; here >= 0; here = parents[here]) found.unshift(pieces[here]);
  return found;
}

/**
 * Shows a hypothesis: one that ended as the translation, any other by a search that goes on from where it parts from the
 * translation on show.
 * @param {HTMLElement} root
 * @param {TreeMeta} tree
 * @param {number} node
 */
function openHypothesis(root, tree, node) {
  const pieces = piecesOf(tree, node), { shown: now, end } = tree;
  if (tree.inner[node]) {
    chooseIn(root, { step: pieces.length - 1 });
  } else if (pieces.at(-1) === end) {
    if (pieces.join() !== now.join()) send(root, "try", { kind: "hypothesis", pieces });
  } else {
    const parting = pieces.findIndex((piece, i) => piece !== now[i]);
    const step = parting < 0 ? pieces.length - 1 : parting;
    send(root, "try", { kind: "words", step, pieces: pieces.slice(step), held: false });
  }
}

/** @param {[number, number] | undefined} span */
const middle = (span) => (span ? (span[0] + span[1]) / 2 : null);

/**
 * The band behind the column of the step on show.
 * @param {Meta} meta
 * @param {[number, number] | undefined} span
 * @returns {Shape[]}
 */
function columnBand(meta, span) {
  if (!span) return []; // the translation on show is longer than the search took
  const fillcolor = tinted(meta.mark, BAND);
  return [box(span[0], span[1], 0, 1, "transparent", 0, { yref: "paper", fillcolor, layer: "below" })];
}
