// Controls that move through the checkpoints (moments) of a training run; charts of the view treat a moment as a step.
// The address has the current update, unless it is the last.

import { listenToSpeeds } from "../clock.js";
import { isForPage, isPlayKey, stepForKey } from "../keyboard.js";
import { fragmentParameters, removeOwner, setParameters } from "../address.js";
import { find, onPress, setLanguage, states, write, writeTexts } from "../shared.js";
import { send, speedOf, viewState } from "../view.js";

const PACE = 700; // milliseconds a moment stays while playing at speed 1
const MOMENT_SLIDER = "[type='range']"; // the slider of the moments

/**
 * Draws the moment of `state`, and sends it to the view as its step.
 * @param {HTMLElement} root
 * @param {TimelineState} state
 */
function paint(root, state) {
  const { data, moment, playing } = state;
  if (!data) return;
  const slider = find(root, "input", HTMLInputElement), last = data.updates.length - 1;
  slider.max = String(last);
  slider.value = String(moment);
  slider.setAttribute("aria-valuetext", data.captions[moment]);
  write(find(root, ".now"), data.captions[moment]);
  write(find(root, ".verb"), playing ? data.words.pause : data.words.play);
  find(root, ".previous", HTMLButtonElement).disabled = moment <= 0;
  find(root, ".next", HTMLButtonElement).disabled = moment >= last;
  Object.assign(viewState(root), { step: moment, source: null });
  send(root, "step", moment);
}

/**
 * Writes the current moment into the address; while playing only at the end.
 * @param {TimelineState} state
 */
function writeMoment({ data, moment, playing }) {
  if (!data || playing) return;
  const last = moment === data.updates.length - 1;
  setParameters("timeline", {
    fragment: { update: last ? null : String(data.updates[moment]) },
  });
}

/**
 * @param {HTMLElement} root
 * @param {TimelineState} state
 */
function controller(root, state) {
  const last = () => (state.data?.updates.length ?? 1) - 1;
  /** @type {(moment: number) => void} */
  const show = (moment) => {
    state.moment = Math.min(Math.max(moment, 0), last());
    paint(root, state);
    writeMoment(state);
  };
  const pause = () => {
    clearTimeout(state.timer);
    state.playing = false;
  };
  /** @type {(moment: number) => void} */
  const go = (moment) => {
    pause();
    show(moment);
  };
  const tick = () => {
    state.timer = setTimeout(tick, PACE / speedOf(root));
    if (state.moment + 1 >= last()) pause();
    show(state.moment + 1);
  };
  const play = () => {
    if (state.playing) {
      go(state.moment);
      return;
    }
    state.playing = last() > 0;
    if (state.moment >= last()) show(0);
    else paint(root, state);
    if (state.playing) state.timer = setTimeout(tick, PACE / speedOf(root));
  };
  return { go, play, pause, last };
}

/**
 * @param {HTMLElement} root
 * @param {TimelineState} state
 */
function start(root, state) {
  const { go, play, pause, last } = controller(root, state);
  onPress(find(root, ".previous"), () => go(state.moment - 1));
  onPress(find(root, ".next"), () => go(state.moment + 1));
  onPress(find(root, ".play"), play);
  const slider = find(root, "input", HTMLInputElement);
  slider.oninput = () => go(Number(slider.value));
  const stopSpeeds = listenToSpeeds(root);
  /** @type {(event: KeyboardEvent) => void} */
  const onKey = (event) => {
    if (!isForPage(event, MOMENT_SLIDER)) return;
    const moment = stepForKey(event, state.moment, last());
    if (moment !== null) go(moment);
    else if (isPlayKey(event)) play();
    else return;
    event.preventDefault();
  };
  const onFragment = () => go((state.data && linkedMoment(state.data)) ?? last());
  document.addEventListener("keydown", onKey);
  document.addEventListener("attnviz:fragment", onFragment);
  state.stop = () => {
    pause();
    stopSpeeds();
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("attnviz:fragment", onFragment);
    removeOwner("timeline");
    states.delete(root);
  };
  states.set(root, state);
}

/**
 * The moment of the update in the address, or the last before it; null where there is none.
 * @param {TimelinePayload} data
 */
function linkedMoment({ updates }) {
  const update = fragmentParameters().get("update") ?? "";
  return /^[0-9]{1,9}$/.test(update) ? Math.max(0, updates.findLastIndex((one) => one <= Number(update))) : null;
}

/**
 * The moment to show of a new payload: for the same runs the current one, or the last if the last was shown and there are
 * now more.
 * @param {TimelineState} state
 * @param {TimelinePayload} data
 */
function initialMoment({ data: before, moment }, data) {
  const last = data.updates.length - 1;
  if (before?.identity !== data.identity) {
    return linkedMoment(data) ?? data.opened ?? last;
  }
  return moment >= before.updates.length - 1 ? last : Math.max(0, data.updates.indexOf(before.updates[moment]));
}

/** @param {Mounted<TimelinePayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".timeline");
  setLanguage(data.language);
  /** @type {TimelineState} */
  const state = states.get(root) ?? { moment: 0, playing: false, stop: () => {} };
  if (!states.has(root)) start(root, state);
  state.moment = initialMoment(state, data);
  state.data = data;
  writeTexts(parentElement, data.words);
  write(find(root, ".first"), data.ends[0]);
  write(find(root, ".last"), data.ends[1]);
  paint(root, state);
  writeMoment(state);
  return state.stop;
}
