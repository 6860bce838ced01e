// A component of the page: mounts it, keeps its state, draws it when it is due, and ends it.

import { fetchAhead, payloadOf } from "./payloads.js";
import { find, states, whenIdle, writeTexts } from "./elements.js";
import { setLanguage } from "./numbers.js";
import { chartOf } from "./plots.js";
import { onMessage } from "./view.js";

/** The function that mounts a component: it starts the component once, takes its data, and draws. It draws again at
 * each selection of its view, and listens until its `signal` aborts. Instead of drawing by itself, a component may
 * `read` each new payload, and `show` what is selected of it. The `words` of its data or payload are written.
 * @template {ComponentState} State @template [Data=State["data"]] @param {string} selector of its root
 * @param {ComponentParts<State, Data>} parts @returns {(mounted: Mounted<Data>) => () => void} */
export function component(selector, { isFigure, begin, start, take, read, show, ...parts }) {
  const draw = parts.draw ?? (read || show ? payloadDrawing(read, show) : undefined);
  const newState = (/** @type {HTMLElement} */ root) => {
    const controller = new AbortController(), { signal } = controller;
    const own = { root, signal, isFigure, stop: () => controller.abort(), redraw: () => {} };
    const state = /** @type {State} */ ({ ...begin?.(own), ...own });
    states.set(root, state);
    signal.addEventListener("abort", () => states.delete(root));
    if (draw) {
      state.redraw = () => drawSoon(state, draw);
      onMessage(root, "shown", state.redraw, signal);
      watchSight(state);
    }
    return state;
  };
  return ({ data, parentElement }) => {
    const root = find(parentElement, selector), known = states.get(root);
    /** @type {State} */
    const state = known ?? newState(root), { language, words } = /** @type {any} */ (data);
    if (language) setLanguage(language);
    if (words) writeTexts(root, words);
    state.data = /** @type {any} */ (data);
    try {
      if (!known) start?.(state, data);
    } catch (error) {
      state.stop(); // so that the next mount starts anew
      throw error;
    }
    if (take?.(state, data)) draw?.(state);
    else state.redraw();
    return state.stop;
  };
}

/** The function that draws the payload that is fetched.
 * @param {((state: any, payload: any) => void) | undefined} read
 * @param {((state: any, payload: any) => void) | undefined} show */
function payloadDrawing(read, show) {
  const draw = (/** @type {any} */ state) => {
    const payload = /** @type {any} */ (payloadOf(state, draw)), isNew = payload !== state.payload;
    if (!payload) return;
    state.payload = payload;
    if (isNew && payload.words) writeTexts(state.root, payload.words);
    if (isNew) read?.(state, payload);
    show?.(state, payload);
    fetchAhead(state);
  };
  return draw;
}

/** Calls `work` after the next paint: texts, which are fast, before figures. Where the browser has a scheduler, input
 * is handled between two of them. @param {() => void} work @param {boolean} [isFigure] */
function afterPaint(work, isFigure = false) {
  const { scheduler } = window;
  requestAnimationFrame(() => {
    if (scheduler) scheduler.postTask(work, { priority: isFigure ? "background" : "user-visible" });
    else setTimeout(work, 0);
  });
}

/** Draws at once if the component is in sight. Otherwise draws when it comes into sight, or earlier: the first time
 * when the browser is idle, a change after the next paint, a slow one after all others. Several calls out of sight
 * draw once, with the state of that time.
 * @template {ComponentState} State @param {State} state @param {(state: State) => void} draw */
function drawSoon(state, draw) {
  const now = () => {
    state.pendingDraw = undefined;
    if (state.signal.aborted) return;
    state.wasDrawn = true;
    draw(state);
  };
  if (state.inSight) return now();
  if (state.pendingDraw) return;
  state.pendingDraw = now;
  const then = () => state.pendingDraw?.();
  if (!state.wasDrawn) whenIdle(then);
  else if (state.isSlow) afterPaint(() => whenIdle(then), true);
  else afterPaint(then, state.isFigure);
}

/** Draws what waits, and fetches its payload, as soon as a component comes into sight; purges its chart at its end. */
function watchSight(/** @type {ComponentState} */ state) {
  const { root, signal } = state;
  const sight = new IntersectionObserver((entries) => {
    state.inSight = entries.at(-1)?.isIntersecting;
    if (!state.inSight) return;
    state.pendingDraw?.();
    state.fetchNow?.();
  });
  sight.observe(root);
  signal.addEventListener("abort", () => {
    sight.disconnect();
    state.drawing?.then(() => states.has(root) || window.Plotly?.purge(chartOf(root)));
  });
}
