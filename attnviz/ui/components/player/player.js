// The player: the source sentence, the translation, and the controls that move through the decoding steps. Mounts them
// and follows the selection of the view.

import { listenToSpeeds } from "../clock.js";
import { find, setLanguage, states, writeTexts } from "../shared.js";
import { publish } from "../state.js";
import { guestOf, listenToView, viewRoot, viewState } from "../view.js";
import { onPlayerKey, releaseFocus } from "./keys.js";
import { paint, sourceOf } from "./mark_step.js";
import { controller, listenToButtons } from "./playback.js";
import { paintPointed, scrollBarToWords } from "./pointing.js";
import { buildSentences } from "./word_buttons.js";

/**
 * Shows the bar at the top of the window while the buttons are above the window and their view is still in it. The root
 * margin extends the window downwards, since a jump may move the buttons from below to above at once. In a page of others,
 * the top of the window is not ours.
 * @param {HTMLElement} root
 * @param {() => void} onShown
 */
function watchBar(root, onShown) {
  /** @type {Map<Element, IntersectionObserverEntry>} */
  const seen = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target, entry);
    const buttons = seen.get(transport), view = seen.get(viewRoot(root));
    const bar = find(root, ".bar");
    bar.hidden = !(buttons && !buttons.isIntersecting && view?.isIntersecting) || guestOf(root) !== null;
    if (bar.hidden) return;
    viewRoot(root).style.setProperty("--bar", `${bar.offsetHeight}px`); // sticky elements are placed below it
    onShown();
  }, { root: document.querySelector("[data-testid=stMain]"), rootMargin: "0px 0px 1000000px" });
  const transport = find(root, ".transport");
  watch.observe(transport);
  watch.observe(viewRoot(root));
  return watch;
}

/**
 * Listens to the page and to the view until the returned function is called.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {PlayerControl} control
 */
function listen(root, state, control) {
  const end = listenToView(root, (event) => onPlayerKey(event, state, control, root), {
    choose: ({ detail }) => {
      if (detail.step !== undefined) control.pause();
    },
    shown: () => showSelection(root, state),
    point: ({ detail }) => {
      state.pointed = detail;
      if (state.data) paintPointed(root, state);
    },
  });
  const page = /** @type {HTMLElement} */ (guestOf(root) ?? document.documentElement);
  page.addEventListener("pointerup", releaseFocus);
  return () => {
    end();
    page.removeEventListener("pointerup", releaseFocus);
  };
}

/**
 * @param {HTMLElement} root
 * @returns {PlayerState}
 */
function start(root) {
  const begun = { step: 0, source: null, order: "sentence", playing: false };
  const state = /** @type {PlayerState} */ (/** @type {Partial<PlayerState>} */ (begun));
  const control = controller(root, state);
  listenToButtons(root, state, control);
  const stopSpeeds = listenToSpeeds(root);
  const bar = watchBar(root, () => scrollBarToWords(root, state, sourceOf(state)));
  const stopListening = listen(root, state, control);
  state.stop = () => {
    control.pause();
    bar.disconnect();
    stopSpeeds();
    stopListening();
    states.delete(root);
  };
  return Object.assign(state, control);
}

/**
 * Draws the selection of the view, once that is of this translation.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 */
function showSelection(root, state) {
  const view = viewState(root), { now } = view;
  if (!now || !state.data || view.view?.identity !== state.data.identity) return;
  if (view.orders !== state.data.orders) {
    view.orders = state.data.orders;
    publish(root, false); // the strongest piece is now known; this calls `showSelection` again
    return;
  }
  Object.assign(state, { step: now.step, source: now.chosen, order: view.order, by: view.options.by });
  paint(root, state);
}

const MOST_LARGE = 22; // words of a sentence in large letters, which fills a line or two beside the controls

/** @param {Mounted<PlayerPayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".player");
  setLanguage(data.language);
  /** @type {PlayerState} */
  const state = states.get(root) ?? start(root);
  states.set(root, state);
  const other = state.data?.identity !== data.identity;
  state.data = data;
  root.classList.toggle("simple", data.simple);
  root.classList.toggle("long", Math.max(data.source.length, data.target.length) > MOST_LARGE);
  writeTexts(root, data.words);
  if (other) {
    state.pause();
    buildSentences(root, data, state.choose);
  }
  if (data.suspectedErrors.length) {
    import("./suspected_errors.js").then((module) => module.drawSuspectedErrors(root, data.suspectedErrors));
  }
  showSelection(root, state);
  return state.stop;
}
