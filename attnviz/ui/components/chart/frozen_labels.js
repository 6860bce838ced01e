// Row and column labels of a chart that is larger than its box: copies that stay in sight while it is scrolled, at its
// left edge and below the bar at the top of the window.

import { svgElement } from "../diagram/svg.js";
import { find, findAll } from "../elements.js";

const TALL_CHART = 480; // pixels of height from which the names of the columns may have left the window
const UNLABELLED_END = 60; // pixels at the bottom where the names no longer stay: they would cover the last rows
const HALF_LABEL = 8; // pixels that the label of the last tick reaches below its axis
const BRACKETS = ".layer-below .shapelayer"; // of the pieces of a word

/** A copy of Plotly's `groups`, `width` by `height` pixels, without class names, so that no selector matches it.
 * @param {Iterable<Element>} groups @param {number} width @param {number} height */
function copyOf(groups, width, height) {
  const svg = svgElement("svg", { width, height, style: "display: block" });
  for (const group of groups) {
    const copy = /** @type {Element} */ (group.cloneNode(true));
    for (const node of [copy, ...copy.querySelectorAll("[class]")]) node.removeAttribute("class");
    svg.append(copy);
  }
  return svg;
}

/** Redraws the copies after a change of the chart or its size. */
export function drawFrozenLabels(/** @type {ChartState} */ state) {
  const { root, chart } = state, { meta } = chart.layout;
  if (!chart._fullLayout) return;
  const { height, width, _size: { l, t, b } } = chart._fullLayout;
  const drawn = (/** @type {string} */ name) => chart.querySelectorAll(name);
  const scroll = find(root, ".scroll");
  const whole = Boolean(meta.columns) && !meta.panels; // several panels have names of their own
  const besideRows = meta.stacked ? ".colorbar, .annotation" : ".colorbar"; // stacked panels keep their headings
  const wide = (whole || Boolean(meta.stacked)) && scroll.scrollWidth > scroll.clientWidth + 1;
  const tall = whole && height > TALL_CHART;
  root.classList.toggle("wide", wide);
  root.classList.toggle("stacked", Boolean(meta.stacked));
  root.style.setProperty("--frozen", wide ? `${l}px` : "0px");
  const labels = find(root, ".rows");
  labels.replaceChildren();
  if (wide) labels.append(copyOf(drawn(`.yaxislayer-above, ${BRACKETS}`), l, height - b + HALF_LABEL));
  if (wide) labels.append(copyOf(drawn(besideRows), width, height));
  find(root, ".columns").style.height = tall ? `${height - b - UNLABELLED_END}px` : "0";
  const names = find(root, ".names");
  names.style.marginLeft = `${l}px`;
  names.replaceChildren(...(tall ? [copyOf(drawn(`.subplot.xy .xaxislayer-above, ${BRACKETS}`), width, t)] : []));
  moveColumnLabels(state);
}

/** Moves the names of the columns with their columns. */
export function moveColumnLabels(/** @type {ChartState} */ { root, chart }) {
  const [names] = findAll(root, ".names svg", SVGElement);
  if (names && chart._fullLayout) {
    names.style.marginLeft = `${-find(root, ".scroll").scrollLeft - chart._fullLayout._size.l}px`;
  }
}
