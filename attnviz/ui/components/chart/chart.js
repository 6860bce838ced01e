// Draws a Plotly figure for the step on show, in place: nothing flashes, and a step known here needs no server.
//
// `data.figures` maps steps to figures, as JSON texts; a figure under "every" serves every step. What a figure is a picture of
// is in its `layout.meta`: where its rows or columns stand for steps, source pieces or words, the chosen ones are marked
// and a click chooses.

function box(x0, x1, y0, y1, color, width, more = {}) {
  return { type: "rect", x0, x1, y0, y1, line: { color, width }, ...more };
}

// A colour as #rrggbb, of an opacity from 0 to 1.
const tinted = (color, opacity) => color + Math.round(255 * opacity).toString(16).padStart(2, "0");

// The frames of the step's row and of the cell in the source piece's column; or the band of the source piece's row.
function marks(layout, { step, source }, places) {
  const { meta } = layout;
  if (places) {
    const row = places[source] ?? null;
    if (row === null) return []; // in a row with others
    return [box(0, 1, row - 0.5, row + 0.5, meta.mark, 1, { xref: "paper", fillcolor: tinted(meta.mark, BAND), layer: "below" })];
  }
  const row = meta.rows?.[step] ?? null;
  if (row === null) return [];
  const [x0, x1] = layout.xaxis.range;
  const found = [box(x0, x1, row - 0.5, row + 0.5, meta.frame, ROW_FRAME_WIDTH)];
  const column = meta.columns?.[source] ?? null;
  if (column !== null) found.push(box(column - 0.5, column + 0.5, row - 0.5, row + 0.5, meta.mark, CELL_FRAME_WIDTH));
  return found;
}

// Where each source piece stands: its row in sentence order, or its rank by weight, the last ranks of a long sentence in
// one row without bars.
function arrange({ data, layout }, strongest) {
  const { order, thinned, entries } = layout.meta;
  if (entries) return entries;
  if (!order) return null;
  const places = order.map((_, j) => j);
  if (!strongest) return places;
  order.forEach((j, rank) => { places[j] = rank; });
  const axis = layout.yaxis;
  axis.tickvals = places;
  for (const trace of data) trace.y = places;
  if (!thinned) return places;
  const { rows, height, more } = thinned;
  const named = places.flatMap((rank, j) => (rank < rows ? [[rank, axis.ticktext[j]]] : []));
  for (const trace of data) trace.y = places.map((rank) => (rank < rows ? rank : null));
  axis.tickvals = [...named.map(([rank]) => rank), rows];
  axis.ticktext = [...named.map(([, name]) => name), more];
  axis.range = [rows + 0.5, -0.5];
  axis.tickfont.size = Math.max(axis.tickfont.size, 12);
  layout.height = height;
  return places.map((rank) => Math.min(rank, rows));
}

function caption(root, [heading, sentence]) {
  for (const [name, text] of [["h3", heading], ["p", sentence]]) {
    write(root.querySelector(name), text);
  }
}

function describe(root, layout, state) {
  const chart = root.querySelector(".chart");
  const { alt, narrowest, widest, steps, order, entries, words } = layout.meta;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", alt);
  const bounds = { minWidth: `${narrowest}px`, maxWidth: widest ? `${widest}px` : "" };
  if (chart.style.minWidth !== bounds.minWidth || chart.style.maxWidth !== bounds.maxWidth) {
    Object.assign(chart.style, bounds);
    state.width = 0;
  }
  chart.style.height = `${layout.height}px`;
  chart.classList.toggle("clickable", Boolean(steps ?? order ?? entries ?? words));
}

// Where a chart is wider than its box: brings the chosen column into view.
function aim(root, chart, { source }) {
  const column = chart.layout.meta.columns?.[source] ?? null;
  if (column === null) return;
  const scroll = root.querySelector(".scroll");
  if (scroll.scrollWidth <= scroll.clientWidth) return;
  const axis = chart._fullLayout.xaxis;
  const x = axis._offset + axis.c2p(column);
  const edge = 40;
  if (x < scroll.scrollLeft + axis._offset + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) {
    scroll.scrollLeft = x - scroll.clientWidth / 2;
  }
}

// Fades the edges behind which there is more.
function fade(scroll) {
  scroll.classList.toggle("more-left", scroll.scrollLeft > 1);
  scroll.classList.toggle("more-right", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
}

// What a click on a point chooses, or null.
function choice({ steps, sources, order, entries, words }, point) {
  if (steps && point.data.type === "heatmap") {
    const [row, column] = point.pointNumber;
    return { step: steps[row], ...(sources && { source: sources[column] }) };
  }
  if (order) return { source: point.pointNumber };
  if (entries) return entries.includes(point.y) ? { source: entries.indexOf(point.y) } : null;
  if (words) return { word: words[point.pointNumber] };
  return null;
}

function listen(Plotly, root, chart, state) {
  const scroll = root.querySelector(".scroll");
  scroll.addEventListener("scroll", () => { fade(scroll); slide(root, chart); }, { passive: true });
  watch(chart, state, () => Plotly.relayout(chart, { width: state.width }).then(() => { fade(scroll); freeze(root, chart); }));
  fade(scroll);
  chart.on("plotly_click", ({ points: [point] }) => {
    const chosen = choice(chart.layout.meta, point);
    if (chosen) chooseIn(root, chosen);
  });
}

async function draw(root, state) {
  const Plotly = await library();
  const { step, source, order } = shown(root);
  if (step === null || !states.has(root)) return;
  const text = state.data.figures["every"] ?? state.data.figures[step];
  if (!text) return;
  // Before the figure is looked at: two translations may share a step's figure and yet differ in its word.
  caption(root, state.data.captions[step] ?? ["", ""]);
  const same = text === state.text && order === state.order;
  if (same && step === state.step && source === state.source) return;
  const chart = root.querySelector(".chart");
  Object.assign(state, { step, source, order, text });
  if (!same) {
    state.figure = JSON.parse(text);
    state.places = arrange(state.figure, order === "strongest");
    describe(root, state.figure.layout, state);
  }
  const { data, layout } = state.figure;
  const shapes = [...marks(layout, state, state.places), ...(layout.shapes ?? [])];
  if (same) await Plotly.relayout(chart, { shapes });
  else await Plotly.react(chart, data, { ...layout, shapes, width: widthOf(chart, state) }, CONFIG);
  if (!state.size) listen(Plotly, root, chart, state);
  if (!same) freeze(root, chart);
  aim(root, chart, state);
}

const MESSAGES = ["step", "source", "order"];

function start(root) {
  const state = {};
  return follow(root, state, MESSAGES, () => soon(root, state, draw));
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".chart-box");
  const state = states.get(root) ?? start(root);
  state.data = data;
  draw(root, state);
  return state.stop;
}
