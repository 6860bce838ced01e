// Charts of Plotly: waiting for it, drawing at the width of a chart, and lecture mode, in which figures grow for a projector.

import { find, onResize } from "./elements.js";

const PLOTLY_CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };

/** @param {ParentNode} root @returns {Chart} */
export const chartOf = (root) => /** @type {Chart} */ (find(root, ".chart"));

/** @returns {Promise<PlotlyLibrary>} Plotly, once it has loaded. */
export async function loadedPlotly() {
  if (!window.Plotly) await new Promise((loaded) => addEventListener("attnviz:plotly", loaded, { once: true }));
  return /** @type {PlotlyLibrary} */ (window.Plotly);
}

/** The width of a chart. Reading it forces a layout, and a step draws nine charts: it is read once and then updated by
 * `watchWidth`. */
export function widthOf(/** @type {ChartOwner} */ state) {
  state.width ||= state.chart.clientWidth;
  return state.width;
}

/** Draws a chart again at each new width.
 * @param {ChartOwner} state @param {(width: number) => Promise<unknown>} [draw] */
export function watchWidth(state, draw = (width) => changeLayout(state, { width })) {
  const { chart, signal } = state;
  state.watched = true;
  const follow = () => {
    state.width = chart.clientWidth;
    if (state.width && state.width !== chart._fullLayout?.width) draw(state.width);
  };
  onResize(follow, signal, chart);
}

/** Draws a figure in the chart of a component, at its width.
 * @param {ChartOwner} state @param {Trace[]} data @param {Omit<Layout, "meta" | "width">} layout */
export const drawFigure = (state, data, layout) =>
  drawing(state, (Plotly) => Plotly.react(state.chart, data, { ...layout, width: widthOf(state) }, PLOTLY_CONFIG));

/** Changes the layout of the chart of a component. @param {ChartOwner} state @param {Partial<Layout>} change */
export const changeLayout = (state, change) => drawing(state, (Plotly) => Plotly.relayout(state.chart, change));

/** Draws by Plotly, once that has loaded. It draws asynchronously, and fails if its chart is purged meanwhile: a
 * component that ends waits for all that is being drawn.
 * @param {ChartOwner} state @param {(Plotly: PlotlyLibrary) => Promise<unknown>} draw */
async function drawing(state, draw) {
  const Plotly = await loadedPlotly();
  if (state.signal.aborted) return;
  const drawn = draw(Plotly);
  state.drawing = Promise.allSettled([state.drawing, drawn]);
  await drawn;
}

const LEAST_FONT_SIZE = 12; // of the text in a figure that is to be scaled, in pixels

const PIXELS = new Set([
  "size",
  "height",
  ...["l", "r", "t", "b", "pad"],
  ...["standoff", "ticklabelstandoff", "ticklen", "xshift", "yshift"],
  ...["thickness", "xpad", "ypad"],
  ...["narrowest", "widest"],
]);

/** Scale factor of figures; 1 outside lecture mode, which avoids computing the page's style. */
export function scaleFactor() {
  const page = document.documentElement;
  return page.hasAttribute("data-lecture") ? parseFloat(getComputedStyle(page).fontSize) / LEAST_FONT_SIZE : 1;
}

/** A part of a figure `factor` times as large. Its data are unchanged, and so is the width, which is that of the page.
 * @param {any} part @param {number} factor @param {number} [least] the smallest size, before it is scaled
 * @returns {any} */
export function scaled(part, factor, least = 0) {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => scaled(one, factor, least)) : part;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  const lengthInPixels = part.lenmode === "pixels";
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      const inPixels = typeof value === "number" && (PIXELS.has(name) || (lengthInPixels && name === "len"));
      const smallest = name.endsWith("font") ? LEAST_FONT_SIZE : 0;
      if (!inPixels) return [name, scaled(value, factor, smallest)];
      return [name, (name === "size" ? Math.max(value, least) : value) * factor];
    }),
  );
}
