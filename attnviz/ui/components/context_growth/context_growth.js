// The context vector as a sum that grows: a strip for each source piece, alpha_ij h_j, and below them what has been added
// so far. The annotations come once for all steps; each step is multiplied out here.

const MESSAGES = ["step", "source", "order"];
const JUMPS = 5; // to the whole sum, where the visitor wants no motion
const STILL = 600; // milliseconds between two jumps

/**
 * The amount below which a share of the numbers lies.
 * @param {Float32Array} vector
 * @param {number} share
 */
function quantile(vector, share) {
  const sorted = Float32Array.from(vector, Math.abs).sort();
  return sorted[Math.floor(share * (sorted.length - 1))] || 1;
}

/**
 * The pieces in the order of their rows, which is also the one they are added in.
 * @param {Float32Array} alpha
 * @param {boolean} strongest
 */
function ordered(alpha, strongest) {
  const pieces = Array.from(alpha, (_, j) => j);
  return strongest ? pieces.sort((a, b) => alpha[b] - alpha[a] || a - b) : pieces;
}

/**
 * @param {Float32Array[]} terms
 * @param {number} units
 */
function sum(terms, units) {
  const total = new Float64Array(units);
  for (const term of terms) for (let k = 0; k < units; k += 1) total[k] += term[k];
  return Float32Array.from(total);
}

/**
 * The rows of a step, each with its piece, its weight and its strip, and the sum of all strips. Of a long sentence in order
 * of weight the pieces that have no row of their own make up the last one together.
 * @param {GrowthState} state
 * @param {number} step
 * @param {boolean} strongest
 * @returns {Growth}
 */
function multiply(state, step, strongest) {
  const alpha = state.alpha[step];
  const { units } = state.data;
  const skeleton = (strongest && state.skeletons.thinned) || state.skeletons.figure;
  const { names, rows: most } = skeleton.layout.meta;
  const pieces = ordered(alpha, strongest);
  /** @param {number} j */
  const strip = (j) => state.annotations[j].map((value) => alpha[j] * value);
  const own = most < pieces.length ? most - 1 : pieces.length;
  /** @type {Strip[]} */
  const lines = pieces.slice(0, own).map((j) => ({ name: names[j], piece: j, weight: alpha[j], strip: strip(j) }));
  const rest = pieces.slice(own);
  if (rest.length) {
    const weight = rest.reduce((total, j) => total + alpha[j], 0);
    lines.push({
      name: fill(state.data.words.more, { n: rest.length }),
      piece: null,
      weight,
      strip: sum(rest.map(strip), units),
    });
  }
  const total = sum(lines.map((line) => line.strip), units);
  /** @param {number | null} source */
  const row = (source) => (source === null ? -1 : rest.includes(source) ? own : pieces.indexOf(source));
  return { step, skeleton, lines, row, total, limit: quantile(total, STRONGEST) };
}

/**
 * @param {Growth} growth
 * @param {number} added
 * @param {number} units
 * @param {number | null} source
 * @returns {Shape[]}
 */
function shapes({ skeleton, lines, row }, added, units, source) {
  const { paper, context, mark, hidden } = skeleton.layout.meta;
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
    found.push(rule(hidden + 0.5, hidden + 0.5, 0, 1, { color: mark, width: 1.5, dash: "dot" }, { yref: "paper" }));
  }
  const chosen = row(source);
  if (chosen >= 0) found.push(frame(chosen - 0.5, chosen + 0.5, mark));
  found.push(frame(-0.5, 0.5, context, { yref: "y2" }));
  return found;
}

const LOWERED = "₀₁₂₃₄₅₆₇₈₉";
/** @param {number} number */
const lower = (number) => String(number).replace(/\d/g, (digit) => LOWERED[Number(digit)]);
/** @param {Growth} growth */
const context = ({ step }) => `c${lower(step + 1)}`;

/**
 * @param {Growth} numbers
 * @param {GrowthState} state
 * @param {number | null} source
 */
function figure(numbers, state, source) {
  const { added } = state;
  const { layout, data } = numbers.skeleton;
  const { units, words } = state.data;
  const count = numbers.lines.length;
  const strips = numbers.lines.map((line) => line.strip);
  const running = added === count ? numbers.total : sum(strips.slice(0, added), units);
  state.running = running;
  const range = { zmin: -numbers.limit, zmax: numbers.limit };
  return {
    data: [{ ...data[0], ...range, z: strips }, { ...data[1], ...range, z: [running] }],
    layout: {
      ...layout,
      width: widthOf(state.chart, state),
      shapes: shapes(numbers, added, units, source),
      yaxis: { ...layout.yaxis, ticktext: numbers.lines.map(({ name, weight }) => `${name}  ${number(weight, 2)}`) },
      yaxis2: {
        ...layout.yaxis2,
        ticktext: [added === count ? `<b>${fill(words.sum, { c: context(numbers) })}</b>` : words.part],
      },
    },
  };
}

/**
 * @param {HTMLElement} root
 * @param {Growth} numbers
 * @param {GrowthState} state
 */
function tell(root, numbers, state) {
  const { added } = state;
  const { words } = state.data;
  const count = numbers.lines.length;
  const weight = numbers.lines.slice(0, added).reduce((total, line) => total + line.weight, 0);
  const range = find(root, ".added", HTMLInputElement);
  range.max = String(count);
  range.value = String(added);
  range.setAttribute("aria-valuetext", fill(words.count, { k: added, n: count }));
  const told = added === count
    ? fill(words.all, { n: count, c: context(numbers) })
    : fill(words.some, { k: added, n: count, weight: number(weight, 2) });
  find(root, "output").textContent = told;
  find(root, ".build").textContent = state.timer ? words.stop : words.build;
  const alt = [numbers.skeleton.layout.meta.alt, state.data.captions[numbers.step], `${told}.`];
  state.chart.setAttribute("aria-label", alt.filter(Boolean).join(" "));
}

/**
 * @param {HTMLElement} root
 * @param {GrowthState} state
 */
async function paint(root, state) {
  const Plotly = await library();
  const { source } = shown(root);
  const look = [state.key, state.added, source, Boolean(state.timer)].join();
  if (!state.numbers || look === state.look) return;
  state.look = look;
  const { data, layout } = figure(state.numbers, state, source);
  tell(root, state.numbers, state);
  await Plotly.react(state.chart, data, layout, CONFIG);
  if (!state.size) listen(Plotly, root, state);
}

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} root
 * @param {GrowthState} state
 */
function listen(Plotly, root, state) {
  const { chart } = state;
  watch(chart, state, (width) => Plotly.relayout(chart, { width }));
  chart.on("plotly_click", ({ points: [point] }) => {
    if (point.curveNumber || typeof point.pointNumber === "number") return;
    const piece = state.numbers?.lines[point.pointNumber[0]].piece ?? null;
    if (piece !== null) chooseIn(root, { source: piece });
  });
}

/** @param {GrowthState} state */
function stop(state) {
  clearTimeout(state.timer ?? undefined);
  state.timer = null;
}

/**
 * Adds piece after piece; where the visitor wants no motion, in a few jumps.
 * @param {HTMLElement} root
 * @param {GrowthState} state
 */
function build(root, state) {
  if (state.timer) {
    stop(state);
    paint(root, state);
    return;
  }
  const count = state.numbers?.lines.length ?? 0;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const stride = calm ? Math.ceil(count / JUMPS) : 1;
  const pause = () => (calm ? STILL : Math.min(450, Math.max(90, 5000 / count)) / shown(root).speed);
  const add = () => {
    state.added = Math.min(state.added + stride, count);
    state.timer = state.added < count ? setTimeout(add, pause()) : null;
    paint(root, state);
  };
  if (state.added === count) state.added = 0;
  state.timer = setTimeout(add, pause());
  paint(root, state);
}

/**
 * @param {HTMLElement} root
 * @param {GrowthState} state
 */
function show(root, state) {
  const { step, order } = shown(root);
  if (step === null || !state.alpha?.[step]) return;
  const sentence = state.data.captions[step] ?? "";
  write(find(root, "p"), sentence);
  const strongest = order === "strongest";
  const key = [step, order].join();
  if (key !== state.key) {
    stop(state);
    state.key = key;
    state.numbers = multiply(state, step, strongest);
    state.added = state.numbers.lines.length;
    state.chart.style.height = `${state.numbers.skeleton.layout.height}px`;
  }
  find(root, `.order input[value=${order}]`, HTMLInputElement).checked = true;
  paint(root, state);
}

/**
 * Names in the language of the page.
 * @param {HTMLElement} root
 * @param {Words} words
 */
function say(root, words) {
  find(root, ".added").setAttribute("aria-label", words.added);
  find(root, "legend").textContent = words.order;
  for (const input of findAll(root, ".order input", HTMLInputElement)) {
    if (input.nextElementSibling) input.nextElementSibling.textContent = words[input.value];
  }
}

/**
 * @param {HTMLElement} root
 * @returns {GrowthState}
 */
function start(root) {
  const state = /** @type {GrowthState} */ ({ chart: /** @type {GrowthChart} */ (chartOf(root)) });
  follow(root, state, MESSAGES, () => soon(root, state, show));
  find(root, ".build").onclick = () => build(root, state);
  const added = find(root, ".added", HTMLInputElement);
  added.oninput = () => {
    stop(state);
    state.added = Number(added.value);
    paint(root, state);
  };
  // One group of choices for each view on the page.
  for (const input of findAll(root, ".order input", HTMLInputElement)) {
    input.name = `order-${[...viewOf(root).classList].join("-")}`;
    input.onchange = () => chooseIn(root, { order: /** @type {Order} */ (input.value) });
  }
  state.chart.setAttribute("role", "img");
  state.chart.classList.add("clickable");
  // The running sum on the screen, unit by unit, for whoever wants to check it.
  state.chart.runningSum = () => Array.from(state.running);
  const leave = state.stop;
  state.stop = () => {
    stop(state);
    leave();
  };
  return state;
}

/** @param {Mounted<GrowthRecord>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".growth");
  /** @type {GrowthState} */
  const state = states.get(root) ?? start(root);
  const other = state.data?.annotations !== data.annotations || state.data?.alpha !== data.alpha;
  if (other) {
    state.annotations = rows(data.annotations, data.units);
    state.alpha = rows(data.alpha, state.annotations.length);
    state.key = null;
    state.look = null;
  }
  if (state.data?.figure !== data.figure) {
    state.skeletons = { figure: JSON.parse(data.figure), thinned: data.thinned && JSON.parse(data.thinned) };
    state.chart.style.minWidth = `${state.skeletons.figure.layout.meta.narrowest}px`;
    state.key = null;
    state.look = null;
  }
  if (state.data?.words.build !== data.words.build) {
    say(root, data.words);
    state.key = null;
    state.look = null;
  }
  state.data = data;
  show(root, state);
  return state.stop;
}
