// The two sentences and the buttons that move through the steps. A step, or a source piece, is chosen here, in the browser:
// the other components of the view hear of it at once, and the server afterwards.

import { find, PATIENCE, speak, states, wordIn } from "../shared.js";
import { attend, shown, viewOf } from "../view.js";
import { keys, leave, release } from "./keys.js";
import { looked, paint } from "./mark_step.js";
import { buttons, controller, speeds } from "./playback.js";
import { aimPair, paintPointed } from "./pointing.js";
import { buildSentences } from "./word_buttons.js";

/**
 * Streamlit names its slider by itself and by its label: "Step Step". One of both is taken away whenever it is drawn.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 */
function nameSlider(root, state) {
  const box = viewOf(root).querySelector("[class*='st-key-slider']");
  if (!box || box === state.sliderBox) return;
  const name = () => {
    for (const slider of box.querySelectorAll("[aria-label][aria-labelledby]")) {
      slider.removeAttribute("aria-labelledby");
    }
  };
  state.sliderBox = box;
  state.naming?.disconnect();
  state.naming = new MutationObserver(name);
  state.naming.observe(box, { subtree: true, childList: true, attributeFilter: ["aria-labelledby"] });
  name();
}

/**
 * The line at the top of the window is there while the buttons are above it and something of their view is below. What is
 * below the window counts as in it: a jump may take the buttons from there past it at once.
 * @param {HTMLElement} root
 * @param {() => void} onShown
 */
function watchBar(root, onShown) {
  /** @type {Map<Element, IntersectionObserverEntry>} */
  const seen = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target, entry);
    const buttons = seen.get(transport), view = seen.get(viewOf(root));
    const bar = find(root, ".bar");
    bar.hidden = !(buttons && !buttons.isIntersecting && view?.isIntersecting);
    if (bar.hidden) return;
    viewOf(root).style.setProperty("--bar", `${bar.offsetHeight}px`); // what stays in sight stands below it
    onShown();
  }, { root: document.querySelector("[data-testid=stMain]"), rootMargin: "0px 0px 1000000px" });
  const transport = find(root, ".transport");
  watch.observe(transport);
  watch.observe(viewOf(root));
  return watch;
}

/**
 * Listens to the page and to the view until the returned function is called.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {PlayerControl} control
 */
function listen(root, state, control) {
  const end = attend(root, (event) => keys(event, state, control, root), {
    choose: ({ detail }) => control.choose(detail),
    server: () => hear(root, state),
    point: ({ detail }) => {
      state.pointed = detail;
      if (state.data) paintPointed(root, state);
    },
  });
  document.addEventListener("keydown", leave);
  document.addEventListener("pointerup", release);
  return () => {
    end();
    document.removeEventListener("keydown", leave);
    document.removeEventListener("pointerup", release);
  };
}

/**
 * @param {HTMLElement} root
 * @returns {PlayerState}
 */
function start(root) {
  const begun = { step: 0, source: null, order: "sentence", sent: null, sentAt: 0, playing: false };
  const state = /** @type {PlayerState} */ (/** @type {Partial<PlayerState>} */ (begun));
  const control = controller(root, state);
  buttons(root, state, control);
  speeds(root);
  const bar = watchBar(root, () => aimPair(root, state, looked(state)));
  const deafen = listen(root, state, control);
  state.stop = () => {
    control.pause();
    bar.disconnect();
    state.naming?.disconnect();
    deafen();
    states.delete(root);
  };
  return Object.assign(state, control);
}

/**
 * Another translation: nothing of the one before is on its way any more.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {PlayerRecord} data
 */
function open(root, state, data) {
  state.pause();
  state.sent = null;
  state.fresh = true;
  buildSentences(root, data, state.choose);
}

/**
 * Whether the server is where it was last sent, or was sent nowhere.
 * @param {PlayerState} state
 * @param {ServerRecord} server
 */
function caughtUp({ sent }, { step, chosen, order }) {
  if (sent === null) return true;
  return (sent.step ?? step) === step && (sent.source === undefined || sent.source === chosen) &&
    (sent.order ?? order) === order;
}

/**
 * Shows what the server says is on show; while it has not caught up with what was chosen here last, what it says is old.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 */
function hear(root, state) {
  const { server } = shown(root);
  if (!server || server.identity !== state.data?.identity) return; // of another translation
  if (caughtUp(state, server) || performance.now() - state.sentAt > PATIENCE) {
    state.sent = null;
    if (!state.playing || state.fresh) state.step = server.step;
    state.fresh = false;
    state.source = server.chosen;
    state.order = server.order;
    paint(root, state);
  }
  nameSlider(root, state);
  root.dataset.confirmed = String(server.step);
}

/** @param {Mounted<PlayerRecord>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".player");
  speak(data.language);
  /** @type {PlayerState} */
  const state = states.get(root) ?? start(root);
  states.set(root, state);
  const other = state.data?.identity !== data.identity;
  state.data = data;
  wordIn(root, data.words);
  if (other) open(root, state, data);
  hear(root, state);
  return state.stop;
}
