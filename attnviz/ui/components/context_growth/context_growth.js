// Figure of the context vector as a running sum: a strip alpha_ij h_j for each source piece, and below them their sum
// so far. The annotations are sent once for all steps; the products of each step are computed here.

import { MOST_ROWS, STRONGEST, VEIL } from "../../../figures/constants.js";
import { entryAt, highlight, rectangle, reportPointing } from "../chart/marks.js";
import { strongestFirst, sumRows, weightedSum } from "../chart/weights.js";
import { newClock } from "../clock.js";
import { component } from "../component.js";
import { find, findAll, prefersReducedMotion, write } from "../elements.js";
import { fill, number, unpackRows } from "../numbers.js";
import { changeLayout, chartOf, drawFigure, scaled, scaleFactor, watchWidth } from "../plots.js";
import { onMessage, send, viewState } from "../view.js";

/** The rows of a step in the order in which they are added, and the sum of all strips. Of a long sentence in order of weight
 * the pieces that have no row of their own make up the last one together.
 * @param {GrowthState} state @param {number} step @param {boolean} strongest @returns {Growth} */
function growthAt({ alpha, annotations, skeletons }, step, strongest) {
  const weights = alpha[step], skeleton = (strongest && skeletons.thinned) || skeletons.figure;
  const pieces = strongest ? strongestFirst(weights) : [...weights.keys()], { rows: most } = skeleton.layout.meta;
  const own = most < pieces.length ? most - 1 : pieces.length;
  const total = weightedSum(weights, annotations, pieces).strip;
  const amounts = Float32Array.from(total, Math.abs).sort();
  return {
    step,
    skeleton,
    lines: sumRows(weights, annotations, pieces, own),
    places: [...weights.keys()].map((j) => Math.min(pieces.indexOf(j), own)),
    total,
    limit: amounts[Math.floor(STRONGEST * (amounts.length - 1))] || 1, // of the quantile STRONGEST
  };
}

/** The lines and frames around the strips.
 * @param {Growth} growth @param {number} added @param {number} units @param {number | null} source @returns {Shape[]} */
function growthShapes({ skeleton, lines, places }, added, units, source) {
  const { paper_colour: paper, context_colour: context, selection_colour: selection, hidden } = skeleton.layout.meta;
  const row = entryAt(places, source), count = lines.length;
  /** @type {(y0: number, y1: number, color: string, width: number, more?: Partial<Shape>) => Shape} */
  const across = (y0, y1, color, width, more) => rectangle(0.5, units + 0.5, y0, y1, color, width, more);
  const lined = count > MOST_ROWS ? [] : lines;
  const shapes = lined.map((_, k) => across(k + 0.5, k + 0.5, paper, 2, { type: "line" }));
  if (added < count) shapes.push(across(added - 0.5, count - 0.5, paper, 0, { fillcolor: paper, opacity: VEIL }));
  if (units > hidden) {
    const dotted = { type: "line", yref: "paper", line: { color: selection, width: 1.5, dash: "dot" } };
    shapes.push(rectangle(hidden + 0.5, hidden + 0.5, 0, 1, selection, 1.5, dotted));
  }
  if (row !== null) shapes.push(across(row - 0.5, row + 0.5, selection, 2));
  return [...shapes, across(-0.5, 0.5, context, 2, { yref: "y2" })];
}

const JUMP_COUNT = 5; // up to the whole sum, with reduced motion
const JUMP_PAUSE = 600; // milliseconds between two jumps

/** The symbol of the sum of a step: c₃, or z₃ of a head. */
const sumSymbol = (/** @type {Growth} */ { step }, /** @type {GrowthState} */ { payload }) =>
  payload.symbol + String(step + 1).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

/** The pieces added so far, with their weight and the sum of their strips. */
const addedSum = (/** @type {GrowthState} */ { added, alpha, annotations }, /** @type {Growth} */ { step, lines }) =>
  weightedSum(alpha[step], annotations, lines.slice(0, added).flatMap(({ pieces }) => pieces));

/** @param {Growth} growth @param {GrowthState} state @param {number | null} source */
function figure(growth, state, source) {
  const { skeleton: { layout, data }, lines, total, limit } = growth;
  const { added, payload: { units, words } } = state, isWhole = added === lines.length, { names } = layout.meta;
  const name = (/** @type {number[]} */ pieces) =>
    pieces.length > 1 ? fill(words.more, { n: pieces.length }) : names[pieces[0]];
  const range = { zmin: -limit, zmax: limit };
  const ticktext = lines.map(({ pieces, weight }) => `${name(pieces)}  ${number(weight, 2)}`);
  const sum = isWhole ? `<b>${fill(words.sum, { c: sumSymbol(growth, state) })}</b>` : words.part;
  const drawn = {
    data: [
      { ...data[0], ...range, z: lines.map(({ strip }) => strip) },
      { ...data[1], ...range, z: [isWhole ? total : addedSum(state, growth).strip] },
    ],
    layout: {
      ...layout,
      shapes: growthShapes(growth, added, units, source),
      yaxis: { ...layout.yaxis, ticktext },
      yaxis2: { ...layout.yaxis2, ticktext: [sum] },
    },
  };
  return state.scale === 1 ? drawn : scaled(drawn, state.scale);
}

function describe(/** @type {GrowthState} */ state, /** @type {Growth} */ growth) {
  const { root, added, payload: { words, captions } } = state, n = growth.lines.length;
  const range = find(root, ".added", HTMLInputElement);
  Object.assign(range, { max: n, value: added, ariaValueText: fill(words.count, { k: added, n }) });
  const sentence = added === n
    ? fill(words.all, { n, c: sumSymbol(growth, state) })
    : fill(words.some, { k: added, n, weight: number(addedSum(state, growth).weight, 2) });
  write(find(root, "output"), sentence);
  write(find(root, ".build"), state.clock.playing ? words.stop : words.build);
  const alt = [growth.skeleton.layout.meta.alt, captions[growth.step], `${sentence}.`];
  Object.assign(state.chart, { role: "img", ariaLabel: alt.filter(Boolean).join(" ") });
}

async function paint(/** @type {GrowthState} */ state) {
  const { source } = viewState(state.root);
  const stripsKey = [state.key, state.added].join(), drawnKey = [stripsKey, source, state.clock.playing].join();
  if (!state.numbers || drawnKey === state.drawnKey || state.signal.aborted) return;
  const same = stripsKey === state.stripsKey;
  Object.assign(state, { stripsKey, drawnKey });
  const { data, layout } = figure(state.numbers, state, source);
  describe(state, state.numbers);
  await (same ? changeLayout(state, { shapes: layout.shapes }) : drawFigure(state, data, layout));
  if (!state.watched && !state.signal.aborted) listen(state);
}

/** The source piece of the strip at a point; null for the sum.
 * @param {GrowthState} state @param {Point} point @returns {{ source: number } | null} */
function pieceAt({ numbers }, { curveNumber, pointNumber }) {
  const pieces = curveNumber || typeof pointNumber === "number" ? [] : numbers?.lines[pointNumber[0]].pieces ?? [];
  return pieces.length === 1 ? { source: pieces[0] } : null;
}

function listen(/** @type {GrowthState} */ state) {
  const { root, chart } = state;
  watchWidth(state);
  chart.on("plotly_click", ({ points: [point] }) => {
    const piece = pieceAt(state, point);
    if (piece) send(root, "choose", piece);
  });
  reportPointing(state, (point) => pieceAt(state, point));
}

/** Adds piece after piece; with reduced motion in a few jumps. */
function toggleBuilding(/** @type {GrowthState} */ state) {
  const { clock } = state, count = state.numbers?.lines.length ?? 0;
  if (clock.playing) {
    clock.pause();
    paint(state);
    return;
  }
  const reducedMotion = prefersReducedMotion(), stride = reducedMotion ? Math.ceil(count / JUMP_COUNT) : 1;
  const pace = reducedMotion ? JUMP_PAUSE : Math.min(450, Math.max(90, 5000 / count));
  const begun = state.added === count ? 0 : state.added;
  clock.play(0, Math.ceil((count - begun) / stride) * pace, (time) => {
    state.added = clock.playing ? Math.min(begun + Math.floor(time / pace) * stride, count) : count;
    paint(state);
  });
}

export default component(".growth", {
  isFigure: true,
  begin: (own) => ({ chart: chartOf(own.root), clock: newClock(own) }),
  start(/** @type {GrowthState} */ state) {
    const { root, signal, chart } = state, added = find(root, ".added", HTMLInputElement);
    find(root, ".build").onclick = () => toggleBuilding(state);
    added.oninput = () => {
      state.clock.pause();
      state.added = Number(added.value);
      paint(state);
    };
    // One group of choices for each view on the page.
    for (const input of findAll(root, ".order input", HTMLInputElement)) {
      input.name = `${viewState(root).name}-order`;
      input.onchange = () => send(root, "choose", { order: /** @type {Order} */ (input.value) });
    }
    chart.classList.add("clickable");
    onMessage(root, "point", ({ detail }) => highlight(state, detail), signal);
  },
  /** Reads a new payload. */
  read(state, payload) {
    const { figure, thinned } = payload;
    state.annotations = unpackRows(payload.annotations, payload.units);
    state.alpha = unpackRows(payload.alpha, state.annotations.length);
    state.skeletons = { figure: JSON.parse(figure), thinned: thinned && JSON.parse(thinned) };
    state.chart.style.minWidth = `${state.skeletons.figure.layout.meta.narrowest}px`;
    Object.assign(state, { key: null, stripsKey: null, drawnKey: null });
  },
  show(state, { captions }) {
    const { root } = state, { step, order } = viewState(root);
    if (step === null || !state.alpha[step]) return;
    write(find(root, "p"), captions[step] ?? "");
    const strongest = order === "strongest";
    const scale = scaleFactor(), key = [step, order, scale].join();
    if (key !== state.key) {
      state.clock.pause();
      Object.assign(state, { key, scale });
      state.numbers = growthAt(state, step, strongest);
      state.places = state.numbers.places;
      state.added = state.numbers.lines.length;
      state.chart.style.height = `${state.numbers.skeleton.layout.height * scale}px`;
    }
    find(root, `.order input[value=${order}]`, HTMLInputElement).checked = true;
    paint(state);
  },
});
