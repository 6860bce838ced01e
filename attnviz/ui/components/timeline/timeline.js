// Controls that move through the checkpoints (moments) of a training run; charts of the view treat a moment as a step.
// The address has the current update, unless it is the last.

import { listenToSpeeds, newPlayer } from "../clock.js";
import { isForPage, isPlayKey, stepForKey } from "../keyboard.js";
import { fragmentParameters, removeOwner, setParameters } from "../address.js";
import { component, find, onPress, write, writeTexts } from "../shared.js";
import { send, speedOf, viewState } from "../view.js";

const PACE = 700; // milliseconds a moment stays while playing at speed 1
const MOMENT_SLIDER = "[type='range']"; // the slider of the moments

/**
 * Draws the moment of `state`, and sends it to the view as its step. Writes it into the address; while playing only at the
 * end.
 * @param {TimelineState} state
 */
function paint({ root, data, moment, player: { playing } }) {
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
  const update = moment === last ? null : String(data.updates[moment]);
  if (!playing) setParameters("timeline", { fragment: { update } });
}

/** @param {TimelineState} state */
function start(state) {
  const { root, signal } = state, slider = find(root, "input", HTMLInputElement);
  const last = () => state.data.updates.length - 1;
  /** @param {number} moment */
  const show = (moment) => {
    state.moment = Math.min(Math.max(moment, 0), last());
    paint(state);
  };
  const player = state.player = newPlayer(state, {
    here: () => state.moment,
    last,
    go: show,
    paint: () => paint(state),
    pace: () => PACE / speedOf(root),
  });
  /** @param {number} moment */
  const go = (moment) => {
    player.pause();
    show(moment);
  };
  onPress(find(root, ".previous"), () => go(state.moment - 1));
  onPress(find(root, ".next"), () => go(state.moment + 1));
  onPress(find(root, ".play"), player.toggle);
  slider.oninput = () => go(Number(slider.value));
  listenToSpeeds(state);
  document.addEventListener("keydown", (event) => {
    if (!isForPage(event, MOMENT_SLIDER)) return;
    const moment = stepForKey(event, state.moment, last());
    if (moment !== null) go(moment);
    else if (isPlayKey(event)) player.toggle();
    else return;
    event.preventDefault();
  }, { signal });
  document.addEventListener("attnviz:fragment", () => go(linkedMoment(state.data) ?? last()), { signal });
  signal.addEventListener("abort", () => removeOwner("timeline"));
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
function initialMoment({ shown: before, moment }, data) {
  const last = data.updates.length - 1;
  if (before?.identity !== data.identity) return linkedMoment(data) ?? data.opened ?? last;
  return moment >= before.updates.length - 1 ? last : Math.max(0, data.updates.indexOf(before.updates[moment]));
}

/**
 * @param {TimelineState} state
 * @param {TimelinePayload} data
 */
function take(state, data) {
  const { root } = state;
  state.moment = initialMoment(state, data);
  state.shown = data;
  writeTexts(root, data.words);
  write(find(root, ".first"), data.ends[0]);
  write(find(root, ".last"), data.ends[1]);
  paint(state);
}

export default component(".timeline", { begin: () => ({ moment: 0 }), start, take });
