// Figure of the context vector as a running sum: a strip alpha_ij h_j for each source piece, and below them their sum
// so far. The annotations are sent once for all steps; the products of each step are computed here.

import { MOST_ROWS, STRONGEST, VEIL } from "../../../figures/constants.js";
import { cellOn, overlayOn } from "../chart/marks.js";
import { newClock } from "../clock.js";
import { component } from "../component.js";
import { find, findAll, prefersReducedMotion, write, writeTexts } from "../elements.js";
import { fill, number, unpackRows } from "../numbers.js";
import { changeLayout, chartOf, drawFigure, scaled, scaleFactor, watchWidth } from "../plots.js";
import { onMessage, send, sendPointed, viewState } from "../view.js";

/** @param {Float32Array[]} terms @param {number} units */
function sumOf(terms, units) {
  const total = new Float64Array(units);
  for (const term of terms) for (let k = 0; k < units; k += 1) total[k] += term[k];
  return Float32Array.from(total);
}

/** The rows of a step, each with its piece, its weight and its strip, and the sum of all strips. Of a long sentence in
 * order of weight the pieces that have no row of their own make up the last one together.
 * @param {GrowthState} state @param {number} step @param {boolean} strongest @returns {Growth} */
function growthAt(state, step, strongest) {
  const alpha = state.alpha[step];
  const { units } = state.payload;
  const skeleton = (strongest && state.skeletons.thinned) || state.skeletons.figure;
  const { names, rows: most } = skeleton.layout.meta;
  const pieces = Array.from(alpha, (_, j) => j); // in the order of their rows, in which they are added
  if (strongest) pieces.sort((a, b) => alpha[b] - alpha[a] || a - b);
  /** @param {number} j */
  const strip = (j) => state.annotations[j].map((value) => alpha[j] * value);
  const own = most < pieces.length ? most - 1 : pieces.length;
  /** @type {Strip[]} */
  const lines = pieces.slice(0, own).map((j) => ({ name: names[j], piece: j, weight: alpha[j], strip: strip(j) }));
  const rest = pieces.slice(own);
  if (rest.length) {
    const weight = rest.reduce((total, j) => total + alpha[j], 0);
    lines.push({
      name: fill(state.payload.words.more, { n: rest.length }),
      piece: null,
      weight,
      strip: sumOf(rest.map(strip), units),
    });
  }
  const total = sumOf(lines.map((line) => line.strip), units);
  /** @param {number | null} source */
  const row = (source) => (source === null ? -1 : rest.includes(source) ? own : pieces.indexOf(source));
  const amounts = Float32Array.from(total, Math.abs).sort();
  const limit = amounts[Math.floor(STRONGEST * (amounts.length - 1))] || 1; // of the quantile STRONGEST
  return { step, skeleton, lines, row, total, limit };
}

/** @param {Growth} growth @param {number} added @param {number} units @param {number | null} source @returns {Shape[]}
 */
function growthShapes({ skeleton, lines, row }, added, units, source) {
  const { paper_colour: paper, context_colour: context, selection_colour: selection, hidden } = skeleton.layout.meta;
  const count = lines.length;
  /** @type {(x0: number, x1: number, y0: number, y1: number, line: Shape["line"], more?: Partial<Shape>) => Shape} */
  const rule = (x0, x1, y0, y1, line, more) => ({ type: "line", x0, x1, y0, y1, line, ...more });
  /** @type {(y0: number, y1: number, color: string, more?: Partial<Shape>) => Shape} */
  const frame = (y0, y1, color, more) => (
    { type: "rect", x0: 0.5, x1: units + 0.5, y0, y1, line: { color, width: 2 }, ...more }
  );
  /** @type {Shape[]} */
  const found = [];
  if (count <= MOST_ROWS) {
    lines.forEach((_, k) => found.push(rule(0.5, units + 0.5, k + 0.5, k + 0.5, { color: paper, width: 2 })));
  }
  if (added < count) {
    found.push(frame(added - 0.5, count - 0.5, paper, { line: { width: 0 }, fillcolor: paper, opacity: VEIL }));
  }
  if (units > hidden) {
    found.push(
      rule(hidden + 0.5, hidden + 0.5, 0, 1, { color: selection, width: 1.5, dash: "dot" }, { yref: "paper" }),
    );
  }
  const chosen = row(source);
  if (chosen >= 0) found.push(frame(chosen - 0.5, chosen + 0.5, selection));
  found.push(frame(-0.5, 0.5, context, { yref: "y2" }));
  return found;
}

const JUMP_COUNT = 5; // up to the whole sum, with reduced motion
const JUMP_PAUSE = 600; // milliseconds between two jumps

/** The symbol of the sum of a step: c₃, or z₃ of a head. @param {Growth} growth @param {GrowthState} state */
const sumSymbol = ({ step }, { payload }) =>
  payload.symbol + String(step + 1).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

/** @param {Growth} numbers @param {GrowthState} state @param {number | null} source */
function figure(numbers, state, source) {
  const { added } = state;
  const { layout, data } = numbers.skeleton;
  const { units, words } = state.payload;
  const count = numbers.lines.length;
  const strips = numbers.lines.map((line) => line.strip);
  const running = added === count ? numbers.total : sumOf(strips.slice(0, added), units);
  const range = { zmin: -numbers.limit, zmax: numbers.limit };
  const drawn = {
    data: [{ ...data[0], ...range, z: strips }, { ...data[1], ...range, z: [running] }],
    layout: {
      ...layout,
      shapes: growthShapes(numbers, added, units, source),
      yaxis: { ...layout.yaxis, ticktext: numbers.lines.map(({ name, weight }) => `${name}  ${number(weight, 2)}`) },
      yaxis2: {
        ...layout.yaxis2,
        ticktext: [added === count ? `<b>${fill(words.sum, { c: sumSymbol(numbers, state) })}</b>` : words.part],
      },
    },
  };
  return state.scale === 1 ? drawn : scaled(drawn, state.scale);
}

/** @param {GrowthState} state @param {Growth} numbers */
function describe(state, numbers) {
  const { root, added, payload: { words } } = state, count = numbers.lines.length;
  const weight = numbers.lines.slice(0, added).reduce((total, line) => total + line.weight, 0);
  const range = find(root, ".added", HTMLInputElement);
  Object.assign(range, { max: count, value: added, ariaValueText: fill(words.count, { k: added, n: count }) });
  const sentence = added === count
    ? fill(words.all, { n: count, c: sumSymbol(numbers, state) })
    : fill(words.some, { k: added, n: count, weight: number(weight, 2) });
  write(find(root, "output"), sentence);
  write(find(root, ".build"), state.clock.playing ? words.stop : words.build);
  const alt = [numbers.skeleton.layout.meta.alt, state.payload.captions[numbers.step], `${sentence}.`];
  state.chart.setAttribute("aria-label", alt.filter(Boolean).join(" "));
}

/** @param {GrowthState} state */
async function paint(state) {
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

/** The source piece of the strip at a point; null for the sum. @param {GrowthState} state @param {Point} point */
const pieceAt = ({ numbers }, { curveNumber, pointNumber }) =>
  curveNumber || typeof pointNumber === "number" ? null : numbers?.lines[pointNumber[0]].piece ?? null;

/** @param {GrowthState} state */
function listen(state) {
  const { root, chart } = state;
  watchWidth(state);
  chart.on("plotly_click", ({ points: [point] }) => {
    const source = pieceAt(state, point);
    if (source !== null) send(root, "choose", { source });
  });
  chart.on("plotly_hover", ({ points: [point] }) => {
    const source = pieceAt(state, point);
    sendPointed(root, source === null ? null : { source });
  });
  chart.on("plotly_unhover", () => sendPointed(root, null));
}

/** Highlights the strip of the hovered source piece. @param {GrowthState} state @param {Pointed | null} pointed */
function highlight({ root, chart, numbers }, pointed) {
  const row = numbers?.row(pointed?.source ?? null) ?? -1, layer = find(root, ".cursor");
  const { xaxis: x, yaxis: y } = chart._fullLayout ?? {};
  if (row < 0 || !x || !y) return layer.replaceChildren();
  layer.replaceChildren(overlayOn("pointing", x, cellOn(y, row)));
}

/** Adds piece after piece; with reduced motion in a few jumps. @param {GrowthState} state */
function toggleBuilding(state) {
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
  begin: (own) => ({ chart: chartOf(own.root), clock: newClock(own) }),
  /** @param {GrowthState} state */
  start(state) {
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
    const { root } = state, { figure, thinned } = payload;
    state.annotations = unpackRows(payload.annotations, payload.units);
    state.alpha = unpackRows(payload.alpha, state.annotations.length);
    state.skeletons = { figure: JSON.parse(figure), thinned: thinned && JSON.parse(thinned) };
    state.chart.style.minWidth = `${state.skeletons.figure.layout.meta.narrowest}px`;
    Object.assign(state, { key: null, stripsKey: null, drawnKey: null });
    writeTexts(root, payload.words);
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
      state.added = state.numbers.lines.length;
      state.chart.style.height = `${state.numbers.skeleton.layout.height * scale}px`;
    }
    find(root, `.order input[value=${order}]`, HTMLInputElement).checked = true;
    paint(state);
  },
});
