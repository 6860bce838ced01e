// Mounts a Plotly figure and updates it in place when the step changes: nothing flashes, and a cached step needs no
// server.
//
// `layout.meta` says whether rows or columns are steps, source pieces or words: then the chosen ones are marked, and a
// click chooses one.

import { component } from "../component.js";
import { element, find, findAll, keepInWindow, makeScrollable, onPress, onResize, write } from "../elements.js";
import { changeLayout, chartOf, drawFigure, loadedPlotly, scaled, scaleFactor, watchWidth, widthOf } from "../plots.js";
import { writeWithTerms } from "../terms/terms.js";
import { onMessage, send, viewState } from "../view.js";
import { drawFrozenLabels, moveColumnLabels } from "./frozen_labels.js";
import { attachSliders, followWhatIfs, markTabStop, placeSliders } from "./sliders.js";
import { captionOf, decomposition, fillFigure, unpacked } from "./energy.js";
import { choiceAt, entryAt, highlight, linkPanels, reportPointing, selectionShapes } from "./marks.js";
import { filled } from "./template.js";
import { listenToTree, markHypothesis, openHypothesis } from "./tree.js";

/** The row or column of each source piece: in sentence order, or its rank by weight. In a long sentence the last ranks
 * share one row without bars. @param {Figure} figure @param {boolean} strongest @returns {number[] | null} */
function arrangeRows({ data, layout }, strongest) {
  const { order, thinned, entries, lines, upright } = layout.meta;
  if (entries ?? lines) return entries ?? lines ?? null;
  if (!order) return null;
  const places = order.map((_, j) => j);
  if (!strongest || upright) return places;
  order.forEach((j, rank) => places[j] = rank);
  const axis = layout.yaxis;
  axis.tickvals = places;
  for (const trace of data) trace.y = places;
  if (!thinned) return places;
  const { rows, height, more } = thinned;
  const named = places.flatMap((rank, j) => (rank < rows ? [{ rank, name: axis.ticktext[j] }] : []));
  for (const trace of data) trace.y = places.map((rank) => (rank < rows ? rank : null));
  axis.tickvals = [...named.map(({ rank }) => rank), rows];
  axis.ticktext = [...named.map(({ name }) => name), more];
  axis.range = [rows + 0.5, -0.5];
  axis.tickfont.size = Math.max(axis.tickfont.size, 12);
  layout.height = height;
  return places.map((rank) => Math.min(rank, rows));
}

/** @param {HTMLElement} root @param {string} heading @param {string[]} sentences */
function writeCaption(root, heading, sentences) {
  write(find(root, "h3"), heading);
  while (findAll(root, "p").length < sentences.length) find(root, "p").after(element("p", ""));
  findAll(root, "p").forEach((line, k) => writeWithTerms(root, line, sentences[k] ?? ""));
}

function describe(/** @type {ChartState} */ state) {
  const { chart, figure: { layout } } = state;
  const { alt, narrowest, widest, steps, order, entries, words, tree, opens } = layout.meta;
  Object.assign(chart, { role: "img", ariaLabel: alt }); // not before: an image must have a name
  const bounds = { minWidth: `${narrowest}px`, maxWidth: widest ? `${widest}px` : "" };
  if (chart.style.minWidth !== bounds.minWidth || chart.style.maxWidth !== bounds.maxWidth) {
    Object.assign(chart.style, bounds);
    state.width = 0;
  }
  chart.style.height = `${layout.height}px`;
  chart.classList.toggle("clickable", Boolean(steps ?? order ?? entries ?? words ?? tree ?? opens));
}

/** The greatest height of a chart's box in pixels, which page.css sets. @param {HTMLElement} root */
const heightLimit = (root) => parseFloat(getComputedStyle(find(root, ".window")).maxHeight) || Infinity;

/** Lowers the rows of a heatmap to fit the greatest height of its box; what is still higher scrolls. In lecture mode,
 * any other figure fills its box up to MOST_GROWTH times its height. For any other, the box is not read: that computes
 * styles. */
function fitHeight(/** @type {ChartState} */ state) {
  const { root, figure: { layout } } = state, { rows } = layout.meta;
  state.limit = rows || state.scale !== 1 ? heightLimit(root) : undefined;
  const most = state.limit ?? Infinity;
  if (!rows && most < Infinity) layout.height = Math.min(most, MOST_GROWTH * layout.height);
  if (!rows || most >= layout.height) return;
  const { t = 0, b = 0 } = layout.margin ?? {}, least = t + b + LOWEST_ROW * (Math.max(...rows.map(Number)) + 1);
  layout.height = Math.max(least, most);
}

/** Removes the numbers above upright bars that have no room beside those of larger weights.
 * @param {Figure} figure @param {number} width of the chart in pixels */
function dropCrowdedNumbers({ data, layout: { meta, margin } }, width) {
  if (!meta.upright || !meta.order) return;
  const { l = 0, r = 0 } = margin ?? {}, distance = NUMBER_WIDTH * meta.order.length / (width - l - r);
  /** @type {number[]} */
  const kept = [];
  for (const j of meta.order) if (kept.every((other) => Math.abs(other - j) >= distance)) kept.push(j);
  for (const trace of data) {
    const { mode, text } = trace;
    if (mode !== "text" || !Array.isArray(text)) continue;
    trace.text = text.map((number, j) => kept.includes(j) ? String(number) : "");
  }
}

/** Scrolls a chart that is wider than its box to the chosen column. */
function scrollToColumn(/** @type {ChartState} */ { root, chart, step, source }) {
  const { columns, spans } = chart.layout.meta;
  const span = spans?.[step ?? -1], column = entryAt(columns, source) ?? (span ? (span[0] + span[1]) / 2 : null);
  if (column === null) return;
  const scroll = find(root, ".scroll");
  if (!scroll.hasAttribute("data-scrolls")) return; // its widths are not read: that would lay out the page
  const axis = chart._fullLayout?.xaxis;
  if (!axis) return;
  const x = axis._offset + axis.c2p(column);
  const edge = 40;
  if (x < scroll.scrollLeft + axis._offset + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) {
    scroll.scrollLeft = x - scroll.clientWidth / 2;
  }
}

/** Tells the elements over a chart, also those of other components, where it now is. */
function placeOverlays(/** @type {ChartState} */ state) {
  drawFrozenLabels(state);
  state.chart.dispatchEvent(new Event("attnviz:drawn", { bubbles: true }));
}

function listenToChart(/** @type {ChartState} */ state) {
  const { root, chart } = state, scroll = find(root, ".scroll");
  scroll.addEventListener("scroll", () => moveColumnLabels(state), { passive: true });
  watchWidth(state, async (width) => {
    if (state.figure.layout.meta.upright) {
      state.text = undefined; // other numbers have room
      if (state.payload) await show(state, state.payload);
    } else {
      await changeLayout(state, { width });
      if (state.signal.aborted) return;
      placeSliders(state);
      placeOverlays(state);
    }
    makeScrollable(scroll);
  });
  makeScrollable(scroll);
  chart.on("plotly_click", ({ points: [point] }) => {
    const { tree, opens } = chart.layout.meta;
    if (tree) openHypothesis(root, tree, Number(point.customdata));
    if (opens && Array.isArray(point.customdata)) {
      location.assign(new URL(`${opens[point.customdata[0]]}${point.customdata[1]}`, document.baseURI));
    }
    const chosen = choiceAt(chart.layout.meta, point);
    if (chosen) send(root, "choose", chosen);
  });
  if (chart.layout.meta.panels) linkPanels(state);
  else if (chart.layout.meta.tree) listenToTree(state);
  else reportPointing(state);
}

async function show(/** @type {ChartState} */ state, /** @type {ChartPayload} */ payload) {
  const { root, operands } = state;
  await loadedPlotly(); // the selection of that time is drawn
  const { step, source, order, now } = viewState(root);
  if (step === null || state.signal.aborted || payload !== state.payload) return;
  if (operands && step >= operands.targets.length) return; // of another translation, whose payload is still being fetched
  const { template, values, captions } = payload;
  const text = fittingValues(root, payload) ?? values["every"] ?? values[step];
  if (!text) return;
  const piece = operands ? Math.min(source ?? operands.peaks[step], operands.sources.length - 1) : 0;
  const cell = operands && decomposition(operands, step, piece);
  // Before the figures are compared: two translations may share a step's figure and yet differ in its word.
  const [heading, ...sentences] = cell
    ? captionOf(cell, operands, step, piece)
    : captions[step] ?? captions["every"] ?? ["", ""];
  const weights = Math.min(1, sentences.length - 1); // the picture of three stages has the weights second
  if (state.words?.invitation) sentences[weights] = `${sentences[weights]} ${state.words.invitation}`;
  writeCaption(root, heading, sentences);
  const scale = scaleFactor();
  const stage = now?.stage ?? null, isSameCell = step === state.step && source === state.source;
  const same = text === state.text && template === state.template && order === state.order && scale === state.scale &&
    (!cell || isSameCell);
  if (same && isSameCell && stage === state.stage) return;
  Object.assign(state, { step, source, order, stage, text, template, scale });
  if (!same) {
    state.figure = filled(JSON.parse(template), JSON.parse(text));
    if (cell) fillFigure(state.figure, cell, operands, sentences[0]);
    state.places = arrangeRows(state.figure, order === "strongest");
    if (scale !== 1) state.figure = scaled(state.figure, scale);
    fitHeight(state);
    describe(state);
    dropCrowdedNumbers(state.figure, widthOf(state));
  }
  const { data, layout } = state.figure;
  const shapes = [...selectionShapes(layout, state, state.places), ...(layout.shapes ?? [])];
  const marks = JSON.stringify(shapes), marked = marks === state.marks;
  state.marks = marks;
  if (!same) await drawFigure(state, data, { ...layout, shapes });
  else if (!marked) await changeLayout(state, { shapes });
  if (state.signal.aborted) return;
  if (!state.watched) listenToChart(state);
  if (!same) {
    placeOverlays(state);
    markHypothesis(state, null);
    attachSliders(state);
    makeScrollable(find(root, ".scroll")); // the figure may be wider than the one before
  }
  markTabStop(state);
  scrollToColumn(state);
}

/** The values of the first layout that fits the width, or else of the last; undefined for a figure with one layout. */
function fittingValues(/** @type {HTMLElement} */ root, /** @type {ChartPayload} */ { fits }) {
  const width = fits && find(root, ".scroll").clientWidth;
  return (fits?.find(({ narrowest }) => narrowest <= Number(width)) ?? fits?.at(-1))?.values;
}

const MOST_GROWTH = 1.5;
const NUMBER_WIDTH = 29; // pixels of a number above an upright bar
const LOWEST_ROW = 16; // pixels of a row that has room for its label

export default component(".chart-box", {
  isFigure: true,
  begin: ({ root }) => ({ chart: chartOf(root) }),
  start(state, data) {
    const { root, signal, redraw } = state;
    const refit = () => {
      if (state.limit && state.limit !== heightLimit(root)) state.text = undefined; // to be drawn anew
      if (state.payload?.fits || state.text === undefined) redraw();
    };
    onResize(refit, signal, find(root, ".scroll"), find(root, ".window"));
    addEventListener("resize", refit, { signal });
    onMessage(root, "hint", ({ detail }) => markHypothesis(state, detail), signal);
    onMessage(root, "point", ({ detail }) => state.figure && highlight(state, detail), signal);
    followWhatIfs(state);
    onPress(find(root, ".undo"), () => send(root, "try", { kind: "undo" }));
    if ("at" in data && data.visited) keepInWindow(root, "nearest");
  },
  take(/** @type {ChartState} */ state, /** @type {ChartPayload | FetchedChart} */ data) {
    const { root } = state, fetching = "at" in data, undo = find(root, ".undo");
    const { hand: words = null, consequence: consequenceAddress = null } = fetching ? data : {};
    Object.assign(state, { words, consequenceAddress });
    root.dataset.message = (fetching && data.waiting) || "";
    undo.hidden = !state.words?.undo;
    write(undo, state.words?.undo ?? "");
    return !fetching || Boolean(data.sent); // the heatmap first: IntersectionObserver reports late
  },
  read(state, { operands }) {
    Object.assign(state, { operands: operands && unpacked(operands), isSlow: operands !== undefined });
  },
  show,
});
