// A player of several translations side by side, stepped together. `drawing.js` builds and redraws their lanes.

import { newPlayer } from "../clock.js";
import { isForPage, isPlayKey, stepForKey } from "../keyboard.js";
import { payloadOf } from "../payloads.js";
import { component, find, onPress, writeTexts } from "../shared.js";
import { change } from "../state.js";
import { onMessage, onViewKey, viewState } from "../view.js";
import { build, paintLanes } from "./drawing.js";

const PACE = 800; // milliseconds a step stays while playing
const STEP_SLIDER = "[type='range']"; // the slider of the steps

/**
 * Shows the step of the view.
 * @param {LanesState} state
 */
function show(state) {
  const { root, payload } = state, { step } = viewState(root);
  if (!payload || step === null) return;
  state.step = Math.min(Math.max(step, 0), payload.labels.length - 1);
  paintLanes(payload, state);
}

/** @param {LanesState} state */
const lastStep = ({ payload }) => (payload?.labels.length ?? 1) - 1;

/**
 * Goes to a step, clamped to the range.
 * @param {LanesState} state
 * @param {number} step
 */
function goToStep({ root, payload }, step) {
  if (payload) change(root, { step: Math.min(Math.max(step, 0), payload.labels.length - 1) });
}

/** @param {LanesState} state */
function draw(state) {
  const { root } = state;
  if (viewState(root).step === null) return;
  const payload = payloadOf(state, draw);
  if (!payload || payload === state.payload) return;
  state.payload = payload;
  writeTexts(root, payload.words);
  build(root, payload);
  show(state);
}

/** @param {LanesState} state */
function start(state) {
  const { root, signal } = state, slider = find(root, ".at", HTMLInputElement);
  const player = state.player = newPlayer(state, {
    here: () => state.step,
    last: () => lastStep(state),
    go: (step) => goToStep(state, step),
    paint: () => show(state),
    pace: () => PACE,
  });
  /** @param {number} step */
  const go = (step) => {
    player.pause();
    goToStep(state, step);
  };
  onPress(find(root, ".previous"), () => go(state.step - 1));
  onPress(find(root, ".next"), () => go(state.step + 1));
  onPress(find(root, ".play"), player.toggle);
  slider.oninput = () => go(Number(slider.value));
  onViewKey(root, (event) => {
    if (!isForPage(event, STEP_SLIDER)) return;
    const step = stepForKey(event, state.step, lastStep(state));
    if (step !== null) go(step);
    else if (isPlayKey(event)) player.toggle();
    else return;
    event.preventDefault();
  }, signal);
  onMessage(root, "choose", ({ detail }) => {
    if (detail.step !== undefined) player.pause();
  }, signal);
  onMessage(root, "shown", () => show(state), signal);
}

export default component(".lanes", {
  messages: ["step"],
  isText: true,
  begin: () => ({ payload: null, step: 0 }),
  start,
  /**
   * @param {LanesState} state
   * @param {LanesPayload | PayloadAddress & { waiting: string }} data
   */
  take(state, data) {
    state.root.dataset.message = "at" in data ? data.waiting : "";
    if ("at" in data) return true;
    draw(state);
    return false;
  },
  draw,
});
