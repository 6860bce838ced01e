// Draws a Plotly figure for the step on show, in place: nothing flashes, and a step known here needs no server.
//
// Of a payload `template` is what the figures of all steps have in common, `values` maps steps to what fills it, as JSON
// texts; those under "every" serve every step. What a figure is a
// picture of is in its `layout.meta`: where its rows or columns stand for steps, source pieces or words, the chosen ones
// are marked and a click chooses.

import { enlargement, larger, onLetters } from "../larger.js";
import { fetchAhead, payloadOf } from "../payloads.js";
import {
  chartOf,
  CONFIG,
  endWith,
  find,
  follow,
  keep,
  library,
  soon,
  states,
  watch,
  widthOf,
  write,
} from "../shared.js";
import { chooseIn, listenIn, shown } from "../view.js";
import { freeze, slide } from "./frozen.js";
import { takeHold, watchPerturbationTests } from "./hand.js";
import { at, marks } from "./marks.js";
import { linkPanels } from "./panels.js";
import { choice, light, tellPointing } from "./pointing.js";
import { lay } from "./sliders.js";
import { filled } from "./template.js";
import { hint, markWays, middle, openHypothesis } from "./tree.js";

/**
 * Where each source piece stands: its row in sentence order, or its rank by weight, the last ranks of a long sentence in
 * one row without bars.
 * @param {Figure} figure
 * @param {boolean} strongest
 * @returns {number[] | null}
 */
function arrange({ data, layout }, strongest) {
  const { order, thinned, entries, lines } = layout.meta;
  if (entries ?? lines) return entries ?? lines ?? null;
  if (!order) return null;
  const places = order.map((_, j) => j);
  if (!strongest) return places;
  order.forEach((j, rank) => {
    places[j] = rank;
  });
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

/**
 * @param {HTMLElement} root
 * @param {[string, string]} texts
 */
function caption(root, [heading, sentence]) {
  write(find(root, "h3"), heading);
  write(find(root, "p"), sentence);
}

/**
 * @param {HTMLElement} root
 * @param {Layout} layout
 * @param {ChartState} state
 */
function describe(root, layout, state) {
  const chart = chartOf(root);
  const { alt, narrowest, widest, steps, order, entries, words, tree, opens } = layout.meta;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", alt);
  const bounds = { minWidth: `${narrowest}px`, maxWidth: widest ? `${widest}px` : "" };
  if (chart.style.minWidth !== bounds.minWidth || chart.style.maxWidth !== bounds.maxWidth) {
    Object.assign(chart.style, bounds);
    state.width = 0;
  }
  chart.style.height = `${layout.height}px`;
  chart.classList.toggle("clickable", Boolean(steps ?? order ?? entries ?? words ?? tree ?? opens));
}

/**
 * Where a chart is wider than its box: brings the chosen column into view.
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 */
function aim(root, chart, { step, source }) {
  const { columns, spans } = chart.layout.meta;
  const column = at(columns, source) ?? middle(spans?.[step ?? -1]);
  if (column === null) return;
  const scroll = find(root, ".scroll");
  if (scroll.scrollWidth <= scroll.clientWidth) return;
  const axis = chart._fullLayout?.xaxis;
  if (!axis) return;
  const x = axis._offset + axis.c2p(column);
  const edge = 40;
  if (x < scroll.scrollLeft + axis._offset + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) {
    scroll.scrollLeft = x - scroll.clientWidth / 2;
  }
}

/**
 * Fades the edges behind which there is more.
 * @param {HTMLElement} scroll
 */
function fade(scroll) {
  scroll.classList.toggle("more-left", scroll.scrollLeft > 1);
  scroll.classList.toggle("more-right", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
}

/**
 * Goes to the sentence of a point, where it is of one.
 * @param {string[]} opens
 * @param {Point} point
 */
function openSentence(opens, { customdata }) {
  if (Array.isArray(customdata)) location.assign(new URL(`${opens[customdata[0]]}${customdata[1]}`, document.baseURI));
}

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} root
 * @param {Chart} chart
 * @param {ChartState} state
 */
function listen(Plotly, root, chart, state) {
  const scroll = find(root, ".scroll");
  scroll.addEventListener("scroll", () => {
    fade(scroll);
    slide(root, chart);
  }, { passive: true });
  watch(chart, state, async (width) => {
    await Plotly.relayout(chart, { width });
    fade(scroll);
    lay(root, chart, state);
    freeze(root, chart);
  });
  fade(scroll);
  chart.on("plotly_click", ({ points: [point] }) => {
    const { tree, opens } = chart.layout.meta;
    if (tree) openHypothesis(root, tree, Number(point.customdata));
    if (opens) openSentence(opens, point);
    const chosen = choice(chart.layout.meta, point);
    if (chosen) chooseIn(root, chosen);
  });
  if (chart.layout.meta.panels) linkPanels(root, chart);
  else if (!chart.layout.meta.tree) tellPointing(root, chart);
  if (chart.layout.meta.tree) markWays(root, chart);
}

/**
 * @param {HTMLElement} root
 * @param {ChartState} state
 */
async function draw(root, state) {
  const Plotly = await library();
  const { step, source, order } = shown(root);
  if (step === null || !states.has(root)) return;
  const payload = payloadOf(root, state, draw);
  if (!payload) return;
  if (state.steps) fetchAhead(root, state, state.steps);
  const { template, values, captions } = payload;
  const text = fitting(root, payload) ?? values["every"] ?? values[step];
  if (!text) return;
  // Before the figure is looked at: two translations may share a step's figure and yet differ in its word.
  caption(root, captions[step] ?? captions["every"] ?? ["", ""]);
  const by = enlargement();
  const same = text === state.text && template === state.template && order === state.order && by === state.by;
  if (same && step === state.step && source === state.source) return;
  const chart = chartOf(root);
  Object.assign(state, { step, source, order, text, template, by });
  if (!same) {
    state.figure = filled(JSON.parse(template), { ...JSON.parse(payload.common ?? "{}"), ...JSON.parse(text) });
    state.places = arrange(state.figure, order === "strongest");
    if (by !== 1) state.figure = larger(state.figure, by);
    describe(root, state.figure.layout, state);
  }
  const { data, layout } = state.figure;
  const shapes = [...marks(layout, state, state.places), ...(layout.shapes ?? [])];
  if (same) await keep(state, Plotly.relayout(chart, { shapes }));
  else await keep(state, Plotly.react(chart, data, { ...layout, shapes, width: widthOf(chart, state) }, CONFIG));
  if (!states.has(root)) return;
  if (!state.size) listen(Plotly, root, chart, state);
  if (!same) {
    freeze(root, chart);
    hint(root, null);
    takeHold(root, chart, state);
  }
  aim(root, chart, state);
}

/**
 * Of a picture that can be laid out in several ways, what fills it in the first way for which there is room, or in the
 * last.
 * @param {HTMLElement} root
 * @param {ChartPayload} payload
 */
function fitting(root, { fits }) {
  const room = fits && find(root, ".scroll").clientWidth;
  return (fits?.find(({ narrowest }) => narrowest <= Number(room)) ?? fits?.at(-1))?.values;
}

const MESSAGES = ["step", "source", "order", "words"];

/**
 * @param {HTMLElement} root
 * @returns {ChartState}
 */
function start(root) {
  const state = /** @type {ChartState} */ ({});
  follow(root, state, MESSAGES, () => soon(root, state, draw));
  const room = new ResizeObserver(() => {
    if ("fits" in state.data) soon(root, state, draw);
  });
  room.observe(find(root, ".scroll"));
  const ends = [
    onLetters(() => soon(root, state, draw)),
    listenIn(root, "hint", ({ detail }) => hint(root, detail)),
    listenIn(root, "point", ({ detail }) => {
      if (state.figure) light(root, chartOf(root), state, detail);
    }),
    watchPerturbationTests(root, state),
  ];
  endWith(state, () => {
    room.disconnect();
    for (const end of ends) end();
  });
  return state;
}

/** @param {Mounted<ChartPayload | Place & { waiting: string, ahead: number, hand?: Words }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".chart-box");
  /** @type {ChartState} */
  const state = states.get(root) ?? start(root);
  const fetching = "at" in data;
  Object.assign(state, {
    data,
    steps: fetching ? data.ahead : 0,
    words: fetching ? data.hand ?? null : null,
  });
  root.dataset.told = fetching ? data.waiting : "";
  if ("values" in data) draw(root, state); // the heatmap comes first: the browser says late what is in the window
  else soon(root, state, draw);
  return state.stop;
}
