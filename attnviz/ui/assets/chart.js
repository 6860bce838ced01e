// Draws a Plotly figure for the step on show, in place: nothing flashes, and a step known here needs no server.
//
// `data.figures` maps steps to figures, as JSON texts; a figure under "0" serves every step and frames the step's row.

const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };
const states = new WeakMap();

function library() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((found) =>
    window.addEventListener("attnviz:plotly", () => found(window.Plotly), { once: true }));
}

function frame(layout, step) {
  const row = layout.meta.rows?.[step - 1] ?? null;
  if (row === null) return [];
  const [x0, x1] = layout.xaxis.range;
  return [{ type: "rect", x0, x1, y0: row - 0.5, y1: row + 0.5, line: { color: layout.meta.frame, width: 2.5 } }];
}

function caption(box, [heading, sentence]) {
  for (const [name, text] of [["h3", heading], ["p", sentence]]) {
    const line = box.querySelector(name);
    if (line.textContent !== text) line.textContent = text;
  }
}

function describe(box, layout) {
  const chart = box.querySelector(".chart");
  const { alt, narrowest } = layout.meta;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", alt);
  chart.style.minWidth = `${narrowest}px`;
  chart.style.height = `${layout.height}px`;
  chart.classList.toggle("clickable", Boolean(layout.meta.steps));
}

// Where a chart is wider than its box: brings the column that matters into view, and fades the edges with more behind.
function aim(box, chart, step) {
  const scroll = box.querySelector(".scroll");
  fade(scroll);
  if (scroll.scrollWidth <= scroll.clientWidth) return;
  const { peak, rows } = chart.layout.meta;
  const weights = chart._fullData[0].z?.[rows?.[step - 1]];
  const column = peak ?? (weights ? weights.indexOf(Math.max(...weights)) : undefined);
  if (column === undefined) return;
  const axis = chart._fullLayout.xaxis;
  const x = axis._offset + axis.c2p(column);
  const edge = 40;
  if (x < scroll.scrollLeft + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) {
    scroll.scrollLeft = x - scroll.clientWidth / 2;
  }
}

function fade(scroll) {
  scroll.classList.toggle("more-left", scroll.scrollLeft > 1);
  scroll.classList.toggle("more-right", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
}

function listen(Plotly, box, chart) {
  const scroll = box.querySelector(".scroll");
  scroll.addEventListener("scroll", () => fade(scroll), { passive: true });
  const size = new ResizeObserver(() => {
    if (chart.clientWidth && chart.clientWidth !== chart._fullLayout?.width) {
      Plotly.relayout(chart, { width: chart.clientWidth }).then(() => fade(scroll));
    }
  });
  size.observe(chart);
  chart.on("plotly_click", ({ points: [point] }) => {
    const steps = chart.layout.meta.steps;
    if (steps) window.dispatchEvent(new CustomEvent("attnviz:choose", { detail: steps[point.pointNumber[0]] + 1 }));
  });
  return size;
}

async function draw(box, state) {
  const Plotly = await library();
  const step = window.attnvizStep;
  if (step === undefined) return; // the player, above, will say
  const every = state.data.figures["0"];
  const text = every ?? state.data.figures[step];
  if (!text) return;
  // Before the figure is looked at: two translations may share a step's figure and yet differ in its word.
  caption(box, state.data.captions[step] ?? ["", ""]);
  if (text === state.text && (!every || step === state.step)) return;
  const chart = box.querySelector(".chart");
  const same = text === state.text;
  state.text = text;
  state.step = step;
  const figure = same ? { layout: chart.layout } : JSON.parse(text);
  const shapes = every ? frame(figure.layout, step) : figure.layout.shapes ?? [];
  if (same) {
    await Plotly.relayout(chart, { shapes });
    aim(box, chart, step);
    return;
  }
  describe(box, figure.layout);
  await Plotly.react(chart, figure.data, { ...figure.layout, shapes, width: chart.clientWidth }, CONFIG);
  state.size ??= listen(Plotly, box, chart);
  aim(box, chart, step);
}

function start(box) {
  const state = {};
  const onStep = () => draw(box, state);
  window.addEventListener("attnviz:step", onStep);
  state.stop = () => {
    window.removeEventListener("attnviz:step", onStep);
    state.size?.disconnect();
    if (state.size) window.Plotly.purge(box.querySelector(".chart"));
    states.delete(box);
  };
  return state;
}

export default function ({ data, parentElement }) {
  const box = parentElement.querySelector(".chart-box");
  const state = states.get(box) ?? start(box);
  states.set(box, state);
  state.data = data;
  draw(box, state);
  return state.stop;
}
