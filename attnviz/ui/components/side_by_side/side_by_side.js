// A player of several translations side by side, stepped together. `drawing.js` builds and redraws their lanes.

import { isForPage, isPlayKey, stepForKey } from "../keyboard.js";
import { payloadOf } from "../payloads.js";
import { drawSoon, find, onMessages, onPress, onStop, setLanguage, states, writeTexts } from "../shared.js";
import { change } from "../state.js";
import { listenToView, viewState } from "../view.js";
import { build, paintLanes } from "./drawing.js";

const PACE = 800; // milliseconds a step stays while playing
const STEP_SLIDER = "[type='range']"; // the slider of the steps

/**
 * Shows the step of the view.
 * @param {HTMLElement} root
 * @param {LanesState} state
 */
function show(root, state) {
  const { payload } = state, { step } = viewState(root);
  if (!payload || step === null) return;
  state.step = Math.min(Math.max(step, 0), payload.labels.length - 1);
  paintLanes(root, payload, state);
}

/**
 * Goes to a step, clamped to the range.
 * @param {HTMLElement} root
 * @param {LanesState} state
 * @param {number} step
 */
function goToStep(root, state, step) {
  if (state.payload) change(root, { step: Math.min(Math.max(step, 0), lastStep(state)) });
}

/** @param {LanesState} state */
const lastStep = ({ payload }) => (payload?.labels.length ?? 1) - 1;

/**
 * @param {HTMLElement} root
 * @param {LanesState} state
 */
function pause(root, state) {
  clearTimeout(state.timer);
  if (!state.playing) return;
  state.playing = false;
  show(root, state);
}

/**
 * @param {HTMLElement} root
 * @param {LanesState} state
 */
function play(root, state) {
  if (state.playing || !state.payload) {
    pause(root, state);
    return;
  }
  state.playing = true;
  if (state.step >= lastStep(state)) goToStep(root, state, 0);
  else show(root, state);
  const tick = () => {
    goToStep(root, state, state.step + 1);
    if (state.step >= lastStep(state)) pause(root, state);
    else state.timer = setTimeout(tick, PACE);
  };
  state.timer = setTimeout(tick, PACE);
}

/**
 * @param {HTMLElement} root
 * @param {LanesState} state
 * @param {KeyboardEvent} event
 */
function onKey(root, state, event) {
  if (!isForPage(event, STEP_SLIDER)) return;
  const step = stepForKey(event, state.step, lastStep(state));
  if (step !== null) {
    pause(root, state);
    goToStep(root, state, step);
  } else if (isPlayKey(event)) play(root, state);
  else return;
  event.preventDefault();
}

/**
 * @param {HTMLElement} root
 * @param {LanesState} state
 */
function draw(root, state) {
  if (viewState(root).step === null) return;
  const payload = payloadOf(root, state, draw);
  if (!payload || payload === state.payload) return;
  setLanguage(payload.language);
  state.payload = payload;
  writeTexts(root, payload.words);
  build(root, payload);
  show(root, state);
}

/**
 * @param {HTMLElement} root
 * @param {LanesState} state
 */
function listenToControls(root, state) {
  /** @param {number} step */
  const go = (step) => {
    pause(root, state);
    goToStep(root, state, step);
  };
  onPress(find(root, ".previous"), () => go(state.step - 1));
  onPress(find(root, ".next"), () => go(state.step + 1));
  onPress(find(root, ".play"), () => play(root, state));
  const slider = find(root, ".at", HTMLInputElement);
  slider.oninput = () => go(Number(slider.value));
}

/**
 * @param {HTMLElement} root
 * @returns {LanesState}
 */
function start(root) {
  const begun = { isText: true, payload: null, step: 0, playing: false };
  const state = /** @type {LanesState} */ (/** @type {Partial<LanesState>} */ (begun));
  onMessages(root, state, ["step"], () => drawSoon(root, state, draw));
  listenToControls(root, state);
  const stopListening = listenToView(root, (event) => onKey(root, state, event), {
    choose: ({ detail }) => {
      if (detail.step !== undefined) pause(root, state);
    },
    shown: () => show(root, state),
  });
  onStop(state, () => {
    clearTimeout(state.timer);
    stopListening();
  });
  return state;
}

/** @param {Mounted<LanesPayload | PayloadAddress & { waiting: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".lanes");
  /** @type {LanesState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  root.dataset.message = "at" in data ? data.waiting : "";
  if ("lanes" in data) draw(root, state);
  else drawSoon(root, state, draw);
  return state.stop;
}
