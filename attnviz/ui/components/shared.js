// What several components need.

import { listenIn } from "./view.js";

export const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };

/**
 * What each component on the page keeps, by its root element.
 * @type {WeakMap<Element, any>}
 */
export const states = new WeakMap();

/**
 * The first element in `root` that `selector` names, which is there: the component's own markup has it.
 * @template {Element} [Kind=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => Kind} [kind]
 * @returns {Kind}
 */
export function find(root, selector, kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`there is no ${selector}`);
  return /** @type {Kind} */ (found);
}

/**
 * All elements in `root` that `selector` names.
 * @template {Element} [Kind=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => Kind} [kind]
 * @returns {Kind[]}
 */
export function findAll(root, selector, kind) {
  return /** @type {Kind[]} */ ([...root.querySelectorAll(selector)].filter((node) =>
    node instanceof (kind ?? HTMLElement)
  ));
}

/**
 * The chart of a component: Plotly makes of its element what `Chart` says.
 * @param {ParentNode} root
 * @returns {Chart}
 */
export const chartOf = (root) => /** @type {Chart} */ (find(root, ".chart"));

/** @returns {Promise<PlotlyLibrary>} Plotly, once it is here. */
export function library() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((found) =>
    window.addEventListener("attnviz:plotly", () => {
      if (window.Plotly) found(window.Plotly);
    }, { once: true })
  );
}

/**
 * Rows of `width` numbers, from little-endian float32 in base64.
 * @param {string} base64
 * @param {number} width
 */
export function rows(base64, width) {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}

/**
 * A wording with its values filled in.
 * @param {string} template
 * @param {Record<string, string | number>} values
 */
export const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/**
 * Sets the language of the page. Whatever writes numbers does it first: the programs come in any order.
 * @param {string} language
 */
export function speak(language) {
  const page = document.documentElement;
  if (page.lang !== language) page.lang = language; // to set it, even to what it is, has the browser style all of the page
}

const pageLanguage = () => document.documentElement.lang || "en";

// What the language of the page writes before a fraction.
function decimalMark() {
  return new Intl.NumberFormat(pageLanguage()).format(0.5)[1] ?? ".";
}

/**
 * A number with so many places, as the language of the page writes it, with a true minus.
 * @param {number} value
 * @param {number} places
 */
export function number(value, places) {
  return value.toFixed(places).replace("-", "\u2212").replace(".", decimalMark());
}

/**
 * A share of 1 in per cent, as the language of the page writes it and as `format_share` of the server does: English texts
 * here set the sign apart, and every blank before it keeps the line together.
 * @param {number} share
 * @param {number} [places]
 */
export function percent(share, places = 0) {
  const zero = new Intl.NumberFormat(pageLanguage(), { style: "percent" }).format(0);
  const pattern = pageLanguage() === "en" ? "0 %" : zero;
  return pattern.replace(/\s/u, "\u00a0").replace("0", number(100 * share, places));
}

/**
 * @param {Element} node
 * @param {string} text
 */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Buttons and names of a component in the language of the page.
 * @param {ParentNode} root
 * @param {Words} words
 */
export function wordIn(root, words) {
  for (const node of findAll(root, "[data-say]")) write(node, words[node.dataset.say ?? ""]);
  for (const node of findAll(root, "[data-label]")) {
    node.setAttribute("aria-label", words[node.dataset.label ?? ""]);
  }
}

// Calls `work` when the browser has nothing better to do, but within a second; Safari has no such call.
/** @type {(work: () => void) => void} */
export const whenIdle = typeof requestIdleCallback === "function"
  ? (work) => requestIdleCallback(work, { timeout: 1000 })
  : (work) => setTimeout(work, 50);

/**
 * Calls `work` once what is in the window has been painted: text, which takes little, before pictures, and whatever comes
 * in meanwhile before the next of them, where the browser knows of priorities.
 * @param {() => void} work
 * @param {boolean} [text]
 */
function afterPaint(work, text) {
  const { scheduler } = window;
  requestAnimationFrame(() => {
    if (scheduler) scheduler.postTask(work, { priority: text ? "user-visible" : "background" });
    else setTimeout(work, 0);
  });
}

/**
 * Draws at once what is in the window, and the rest thereafter or as it comes into the window: for the first time when
 * the browser is idle, a change right after the paint. Of several calls for what is not in sight only one draws, with
 * what is then on show.
 * @template {Following} State
 * @param {HTMLElement} root
 * @param {State} state
 * @param {(root: HTMLElement, state: State) => void} draw
 */
export function soon(root, state, draw) {
  const now = () => {
    state.waiting = undefined;
    if (!states.has(root)) return;
    state.begun = true;
    draw(root, state);
  };
  if (state.seen) {
    now();
    return;
  }
  if (state.waiting) return;
  state.waiting = now;
  const then = () => state.waiting?.();
  if (state.begun) afterPaint(then, state.light);
  else whenIdle(then);
}

/**
 * The width of a chart. To ask the page for it makes the browser lay out what has just been drawn elsewhere, and a step
 * draws nine charts: it is asked once, and then told to `watch`.
 * @param {Chart} chart
 * @param {Following} state
 */
export function widthOf(chart, state) {
  state.width ||= chart.clientWidth;
  return state.width;
}

/**
 * Keeps `state.width`, and calls `onWidth` where it is no longer the one that was drawn.
 * @param {Chart} chart
 * @param {Following} state
 * @param {(width: number) => Promise<unknown>} onWidth
 */
export function watch(chart, state, onWidth) {
  state.size = new ResizeObserver(() => {
    state.width = chart.clientWidth;
    if (state.width && state.width !== chart._fullLayout?.width) keep(state, onWidth(state.width));
  });
  state.size.observe(chart);
}

/**
 * Plotly goes on drawing after it has been called, and fails where its chart is let go of meanwhile: `state.stop` waits
 * for all that is kept here.
 * @template Value
 * @param {Following} state
 * @param {Promise<Value>} drawing
 * @returns {Promise<Value>}
 */
export function keep(state, drawing) {
  state.drawing = Promise.allSettled([state.drawing, drawing]);
  return drawing;
}

/**
 * Calls `onChange` at each of the messages `names` of its view until `state.stop`, which also lets go of the chart of
 * what `keep` was told.
 * @template {Following} State
 * @param {HTMLElement} root
 * @param {State} state
 * @param {string[]} names
 * @param {() => void} onChange
 * @returns {State}
 */
export function follow(root, state, names, onChange) {
  const ends = names.map((name) => listenIn(root, name, onChange));
  const sight = new IntersectionObserver((entries) => {
    state.seen = entries.at(-1)?.isIntersecting;
    if (!state.seen) return;
    state.waiting?.();
    state.hurry?.();
  });
  sight.observe(root);
  state.stop = () => {
    for (const end of ends) end();
    sight.disconnect();
    state.size?.disconnect();
    states.delete(root);
    state.drawing?.then(() => states.has(root) || window.Plotly?.purge(chartOf(root)));
  };
  states.set(root, state);
  return state;
}

/**
 * Has `state.stop` call `end` before it does what it did.
 * @param {{ stop(): void }} state
 * @param {() => void} end
 */
export function endWith(state, end) {
  const { stop } = state;
  state.stop = () => {
    end();
    stop();
  };
}

/**
 * After the mouse a button lets go of the focus: Space is to play again, not to press it once more.
 * @param {MouseEvent} event
 */
export function letGo(event) {
  if (event.detail > 0 && event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
}

/** Whether the visitor asks his system for less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
