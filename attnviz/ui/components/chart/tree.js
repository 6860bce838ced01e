// What a click does in the tree of a beam search, a chart of Plotly, and marking the path to a hypothesis. `chart.js` listens
// for clicks. A click on the end of a finished hypothesis makes it the translation, on the end of another one forces its
// pieces; a click on any other piece goes to the step that wrote it. The path to the hovered hypothesis, here or in the
// list, is marked over the chart.

import { addElement, svgElement } from "../diagram/svg.js";
import { find } from "../elements.js";
import { send } from "../view.js";

/** Opens a hypothesis: a finished one becomes the translation; any other is forced from where it differs from the
 * current translation. @param {HTMLElement} root @param {TreeMeta} tree @param {number} node */
export function openHypothesis(root, tree, node) {
  const { shown: now, end } = tree, pieces = [];
  for (let here = node; here >= 0; here = tree.parents[here]) pieces.unshift(tree.pieces[here]);
  if (tree.inner[node]) {
    send(root, "choose", { step: pieces.length - 1 });
  } else if (pieces.join() !== now.join()) {
    const held = pieces.at(-1) === end, other = pieces.findIndex((piece, i) => piece !== now[i]);
    const step = held ? 0 : other < 0 ? pieces.length - 1 : other, replaced = held ? now.length : 1;
    send(root, "try", { intervention: { kind: "words", pieces: pieces.slice(step), step, replaced }, held });
  }
}

/** The node of the hypothesis with these pieces, or -1. */
function nodeOf(/** @type {TreeMeta} */ { parents, pieces }, /** @type {number[]} */ wanted) {
  let here = -1;
  for (const piece of wanted) {
    const before = here;
    here = parents.findIndex((parent, node) => parent === before && pieces[node] === piece);
    if (here < 0) break;
  }
  return here;
}

/** The points of the link to a hypothesis, in pixels: each part of the tree has its labels in one trace and, as many
 * for each and in the same order, the points of its links in another.
 * @param {Chart} chart @param {number} node @returns {string[]} */
function linkPoints({ data, _fullLayout }, node) {
  const labels = data.find(({ customdata }) => customdata?.includes(node));
  const links = data.find(({ name }) => name === `links: ${labels?.name}`);
  if (!labels?.customdata || !links?.x || !links.y || !_fullLayout) return [];
  const { xaxis, yaxis } = _fullLayout, { x, y } = links;
  const size = x.length / labels.customdata.length, first = size * labels.customdata.indexOf(node);
  return x.slice(first, first + size - 1).map((across, k) =>
    `${xaxis._offset + xaxis.c2p(across)},${yaxis._offset + yaxis.c2p(Number(y[first + k]))}`
  );
}

/** Marks the path to a hypothesis; for -1 to the current translation, unless that is the best one. The mark is an
 * element over the chart, since Plotly draws too slowly for it.
 * @param {ChartState} state @param {TreeMeta} tree @param {number} pointed */
function markPath({ root, chart }, tree, pointed) {
  const currentNode = nodeOf(tree, tree.shown),
    node = pointed < 0 && currentNode !== tree.winner ? currentNode : pointed;
  const points = [];
  for (let here = node; here >= 0; here = tree.parents[here]) points.unshift(...linkPoints(chart, here));
  const { width = 0, height = 0 } = chart._fullLayout ?? {}, svg = svgElement("svg", { width, height });
  addElement(svg, "polyline", { points: points.join(" ") });
  find(root, ".cursor").replaceChildren(svg);
}

/** Listens to the pointer over the tree. */
export function listenToTree(/** @type {ChartState} */ state) {
  const { chart } = state;
  const mark = (/** @type {unknown} */ node) => {
    const { tree } = chart.layout.meta; // changes with the search
    if (tree) markPath(state, tree, Number(node));
  };
  chart.on("plotly_hover", ({ points: [point] }) => mark(point.customdata));
  chart.on("plotly_unhover", () => mark(-1));
}

/** Marks the path to the hypothesis of these pieces, where the chart is a tree; for null that of the translation. */
export function markHypothesis(/** @type {ChartState} */ state, /** @type {number[] | null} */ pieces) {
  const { tree } = state.chart.layout?.meta ?? {};
  if (tree) markPath(state, tree, pieces ? nodeOf(tree, pieces) : -1);
}
