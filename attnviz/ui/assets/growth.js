// The context vector as a sum that grows: a strip for each source piece, alpha_ij h_j, and below them what has been added
// so far. The annotations come once for all steps; each step is multiplied out here.

const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };
const EVENTS = ["attnviz:step", "attnviz:source", "attnviz:order"];
const states = new WeakMap();

function library() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((found) =>
    window.addEventListener("attnviz:plotly", () => found(window.Plotly), { once: true }));
}

function rows(base64, width) {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  return Array.from({ length: numbers.length / width }, (_, k) => numbers.subarray(k * width, (k + 1) * width));
}

function quantile(vector, share) {
  const sorted = Float32Array.from(vector, Math.abs).sort();
  return sorted[Math.floor(share * (sorted.length - 1))] || 1;
}

// The pieces in the order of their rows, which is also the one they are added in.
function ordered(alpha, strongest) {
  const pieces = Array.from(alpha, (_, j) => j);
  return strongest ? pieces.sort((a, b) => alpha[b] - alpha[a] || a - b) : pieces;
}

function sum(terms, units) {
  const total = new Float64Array(units);
  for (const term of terms) for (let k = 0; k < units; k += 1) total[k] += term[k];
  return Float32Array.from(total);
}

// The numbers of a step: its rows in order, the weights in that order, and the sum of all.
function multiply(state, step) {
  const alpha = state.alpha[step - 1];
  const order = ordered(alpha, window.attnvizOrder === "strongest");
  const terms = order.map((j) => state.annotations[j].map((value) => alpha[j] * value));
  const total = sum(terms, state.data.units);
  return { step, order, terms, total, weights: order.map((j) => alpha[j]), limit: quantile(total, 0.98) };
}

function shapes({ order, limit }, added, { layout: { meta } }, units, source) {
  const { paper, context, mark, hidden } = meta;
  const count = order.length;
  const line = (x0, x1, y0, y1, color, width, more) => ({ type: "line", x0, x1, y0, y1, line: { color, width }, ...more });
  const found = [];
  if (count <= 48) order.forEach((_, row) => found.push(line(0.5, units + 0.5, row + 0.5, row + 0.5, paper, 2)));
  if (added < count) {
    found.push({ type: "rect", x0: 0.5, x1: units + 0.5, y0: added - 0.5, y1: count - 0.5, line: { width: 0 }, fillcolor: paper, opacity: 0.78 });
  }
  if (units > hidden) found.push(line(hidden + 0.5, hidden + 0.5, 0, 1, mark, 1.5, { yref: "paper", line: { color: mark, width: 1.5, dash: "dot" } }));
  const row = order.indexOf(source - 1);
  if (row >= 0) found.push({ type: "rect", x0: 0.5, x1: units + 0.5, y0: row - 0.5, y1: row + 0.5, line: { color: mark, width: 2 } });
  found.push({ type: "rect", yref: "y2", x0: 0.5, x1: units + 0.5, y0: -0.5, y1: 0.5, line: { color: context, width: 2 } });
  return found;
}

const LOWERED = "₀₁₂₃₄₅₆₇₈₉";
const lower = (number) => String(number).replace(/\d/g, (digit) => LOWERED[digit]);

function figure(state) {
  const { numbers, added, skeleton } = state;
  const { layout, data } = skeleton;
  const { units } = state.data;
  const count = numbers.order.length;
  const running = added === count ? numbers.total : sum(numbers.terms.slice(0, added), units);
  state.running = running;
  const range = { zmin: -numbers.limit, zmax: numbers.limit };
  const labels = numbers.order.map((j, row) => `${layout.meta.names[j]}  ${numbers.weights[row].toFixed(2)}`);
  const name = `c${lower(numbers.step)}`;
  return {
    data: [{ ...data[0], ...range, z: numbers.terms }, { ...data[1], ...range, z: [running] }],
    layout: {
      ...layout,
      width: state.chart.clientWidth,
      shapes: shapes(numbers, added, skeleton, units, window.attnvizSource),
      yaxis: { ...layout.yaxis, ticktext: labels },
      yaxis2: { ...layout.yaxis2, ticktext: [added === count ? `<b>sum = ${name}</b>` : "sum so far"] },
    },
  };
}

function tell(root, state) {
  const { numbers, added } = state;
  const count = numbers.order.length;
  const weight = numbers.weights.slice(0, added).reduce((total, one) => total + one, 0);
  const range = root.querySelector(".added");
  range.max = count;
  range.value = added;
  range.setAttribute("aria-valuetext", `${added} of ${count}`);
  root.querySelector("output").textContent =
    added === count ? `all ${count} added: c${lower(numbers.step)}` : `${added} of ${count} added, Σα = ${weight.toFixed(2)}`;
  root.querySelector(".build").textContent = state.timer ? "Stop" : "Build it up";
  state.chart.setAttribute("aria-label", `${state.skeleton.layout.meta.alt} ${root.querySelector("output").textContent}.`);
}

async function paint(root, state) {
  const Plotly = await library();
  const look = [state.key, state.added, window.attnvizSource, Boolean(state.timer)].join();
  if (!state.numbers || look === state.look) return;
  state.look = look;
  const { data, layout } = figure(state);
  tell(root, state);
  await Plotly.react(state.chart, data, layout, CONFIG);
  state.size ??= listen(Plotly, state);
}

function listen(Plotly, state) {
  const { chart } = state;
  const size = new ResizeObserver(() => {
    if (chart.clientWidth && chart.clientWidth !== chart._fullLayout?.width) Plotly.relayout(chart, { width: chart.clientWidth });
  });
  size.observe(chart);
  chart.on("plotly_click", ({ points: [point] }) => {
    if (point.curveNumber) return;
    const detail = { source: state.numbers.order[point.pointNumber[0]] + 1 };
    window.dispatchEvent(new CustomEvent("attnviz:choose", { detail }));
  });
  return size;
}

function stop(state) {
  clearTimeout(state.timer);
  state.timer = null;
}

// Adds piece after piece; at once where the visitor wants no motion.
function build(root, state) {
  if (state.timer) { stop(state); paint(root, state); return; }
  const count = state.numbers.order.length;
  const pause = () => Math.min(450, Math.max(90, 5000 / count)) / (window.attnvizSpeed ?? 1);
  const add = () => {
    state.added += 1;
    state.timer = state.added < count ? setTimeout(add, pause()) : null;
    paint(root, state);
  };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    state.added = count;
  } else {
    if (state.added === count) state.added = 0;
    state.timer = setTimeout(add, pause());
  }
  paint(root, state);
}

function show(root, state) {
  const step = window.attnvizStep;
  if (step === undefined || !state.alpha?.[step - 1]) return;
  const sentence = state.data.captions[step] ?? "";
  const line = root.querySelector("p");
  if (line.textContent !== sentence) line.textContent = sentence;
  const strongest = window.attnvizOrder === "strongest";
  const key = [step, strongest].join();
  if (key !== state.key) {
    stop(state);
    state.key = key;
    state.numbers = multiply(state, step);
    state.added = state.numbers.order.length;
  }
  root.querySelector(`.order input[value=${strongest ? "strongest" : "sentence"}]`).checked = true;
  paint(root, state);
}

// What cannot be seen is drawn once what can be seen has been.
function soon(root, state) {
  const { top, bottom } = root.getBoundingClientRect();
  if (bottom > 0 && top < window.innerHeight) { show(root, state); return; }
  if (state.waiting) return;
  state.waiting = true;
  requestAnimationFrame(() => setTimeout(() => {
    state.waiting = false;
    if (states.has(root)) show(root, state);
  }, 0));
}

function start(root) {
  const state = { chart: root.querySelector(".chart") };
  const onChange = () => soon(root, state);
  for (const name of EVENTS) window.addEventListener(name, onChange);
  root.querySelector(".build").onclick = () => build(root, state);
  root.querySelector(".added").oninput = (event) => {
    stop(state);
    state.added = Number(event.target.value);
    paint(root, state);
  };
  root.querySelector(".order").onchange = (event) => {
    window.attnvizOrder = event.target.value;
    window.dispatchEvent(new Event("attnviz:order"));
  };
  state.chart.setAttribute("role", "img");
  state.chart.classList.add("clickable");
  // The running sum on the screen, unit by unit, for whoever wants to check it.
  state.chart.runningSum = () => Array.from(state.running);
  state.stop = () => {
    stop(state);
    for (const name of EVENTS) window.removeEventListener(name, onChange);
    state.size?.disconnect();
    if (state.size) window.Plotly.purge(state.chart);
    states.delete(root);
  };
  return state;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".growth");
  const state = states.get(root) ?? start(root);
  states.set(root, state);
  const other = state.data?.annotations !== data.annotations || state.data?.alpha !== data.alpha;
  if (other) {
    state.annotations = rows(data.annotations, data.units);
    state.alpha = rows(data.alpha, state.annotations.length);
    state.key = null;
    state.look = null;
  }
  if (state.data?.figure !== data.figure) {
    state.skeleton = JSON.parse(data.figure);
    state.look = null;
    const { meta, height } = state.skeleton.layout;
    state.chart.style.minWidth = `${meta.narrowest}px`;
    state.chart.style.height = `${height}px`;
  }
  state.data = data;
  show(root, state);
  return state.stop;
}
