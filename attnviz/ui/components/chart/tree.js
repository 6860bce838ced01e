// The tree of a beam search: a click on the end of a hypothesis has it as the translation, on any other piece it leads to
// the step that wrote it. The way to what is pointed at, here or in a list of hypotheses, is marked.

import { chartOf, find } from "../shared.js";
import { chooseIn, send } from "../view.js";
import { SVG } from "./frozen.js";

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
export function openHypothesis(root, tree, node) {
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

/**
 * The number of the hypothesis of these pieces, or -1.
 * @param {TreeMeta} tree
 * @param {number[]} wanted
 */
function nodeOf({ parents, pieces }, wanted) {
  let here = -1;
  for (const piece of wanted) {
    const before = here;
    here = parents.findIndex((parent, node) => parent === before && pieces[node] === piece);
    if (here < 0) break;
  }
  return here;
}

/**
 * The points of the link to a hypothesis, in pixels: each part of the tree has its labels in one trace and, as many for
 * each and in the same order, the points of its links in another.
 * @param {Chart} chart
 * @param {number} node
 * @returns {string[]}
 */
function linkTo({ data, _fullLayout }, node) {
  const labels = data.find(({ customdata }) => customdata?.includes(node));
  const links = data.find(({ name }) => name === `links: ${labels?.name}`);
  if (!labels?.customdata || !links?.x || !links.y || !_fullLayout) return [];
  const { xaxis, yaxis } = _fullLayout, { x, y } = links;
  const size = x.length / labels.customdata.length, first = size * labels.customdata.indexOf(node);
  return x.slice(first, first + size - 1).map((across, k) =>
    `${xaxis._offset + xaxis.c2p(across)},${yaxis._offset + yaxis.c2p(Number(y[first + k]))}`
  );
}

/**
 * Marks the way to a hypothesis; to that of the translation on show, where it is not the one on top, for -1. The mark is
 * the page's own element over the chart: Plotly would take longer to draw it than the pointer to move on.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {TreeMeta} tree
 * @param {number} pointed
 */
function markWay(root, chart, tree, pointed) {
  const resting = nodeOf(tree, tree.shown), node = pointed < 0 && resting !== tree.winner ? resting : pointed;
  const points = [];
  for (let here = node; here >= 0; here = tree.parents[here]) points.unshift(...linkTo(chart, here));
  const way = document.createElementNS(SVG, "svg");
  way.setAttribute("width", String(chart._fullLayout?.width));
  way.setAttribute("height", String(chart._fullLayout?.height));
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", points.join(" "));
  way.append(line);
  find(root, ".cursor").replaceChildren(way);
}

/**
 * Listens to the pointer over the tree.
 * @param {HTMLElement} root
 * @param {Chart} chart
 */
export function markWays(root, chart) {
  /** @param {unknown} node */
  const mark = (node) => {
    const { tree } = chart.layout.meta; // another, where another search is drawn
    if (tree) markWay(root, chart, tree, Number(node));
  };
  chart.on("plotly_hover", ({ points: [point] }) => mark(point.customdata));
  chart.on("plotly_unhover", () => mark(-1));
}

/**
 * Marks the way to the hypothesis of these pieces, where the chart is a tree; for null none.
 * @param {HTMLElement} root
 * @param {number[] | null} pieces
 */
export function hint(root, pieces) {
  const chart = chartOf(root), tree = chart.layout?.meta.tree;
  if (tree) markWay(root, chart, tree, pieces ? nodeOf(tree, pieces) : -1);
}

/** @param {[number, number] | undefined} span */
export const middle = (span) => (span ? (span[0] + span[1]) / 2 : null);
