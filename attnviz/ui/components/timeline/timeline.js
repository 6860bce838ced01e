// Controls that move through the checkpoints (moments) of a training run; charts of the view treat a moment as a step.
// The address has the current update, unless it is the last.

import { component } from "../component.js";
import { listenToSpeeds, newPlayer } from "../clock.js";
import { fragmentParameters, removeOwner, setParameters } from "../address.js";
import { find, onPageMessage, write, writeTexts } from "../elements.js";
import { send, speedOf, viewState } from "../view.js";

const PACE = 700; // milliseconds a moment stays while playing at speed 1

/** Draws the moment of `state`, and sends it to the view as its step. Writes it into the address; while playing only at
 * the end. */
function paint(/** @type {TimelineState} */ { root, data, moment, player }) {
  player.write(data.words, data.captions[moment]);
  write(find(root, ".now"), data.captions[moment]);
  Object.assign(viewState(root), { step: moment, source: null });
  send(root, "shown");
  const update = moment === data.updates.length - 1 ? null : String(data.updates[moment]);
  if (!player.playing) setParameters("timeline", { fragment: { update } });
}

/** The moment of the update in the address, or the last before it; null where there is none. */
function linkedMoment(/** @type {TimelinePayload} */ { updates }) {
  const update = fragmentParameters().get("update") ?? "";
  return /^[0-9]{1,9}$/.test(update) ? Math.max(0, updates.findLastIndex((one) => one <= Number(update))) : null;
}

export default component(".timeline", {
  begin: () => ({ moment: 0 }),
  start(/** @type {TimelineState} */ state) {
    const { root, signal } = state, last = () => state.data.updates.length - 1;
    const player = state.player = newPlayer(state, {
      here: () => state.moment,
      last,
      go(moment) {
        state.moment = moment;
        paint(state);
      },
      paint: () => paint(state),
      pace: () => PACE / speedOf(root),
    });
    listenToSpeeds(state);
    document.addEventListener("keydown", player.onKey, { signal });
    onPageMessage("fragment", () => player.leap(linkedMoment(state.data) ?? last()), signal);
    signal.addEventListener("abort", () => removeOwner("timeline"));
  },
  take(state, data) {
    const { root } = state;
    if (state.shown?.identity !== data.identity) state.player.pause();
    const { shown: before, moment } = state, last = data.updates.length - 1;
    // Of the same runs the current moment, or the last if the last was shown and there are now more.
    if (before?.identity !== data.identity) state.moment = linkedMoment(data) ?? data.opened ?? last;
    else if (moment >= before.updates.length - 1) state.moment = last;
    else state.moment = Math.max(0, data.updates.indexOf(before.updates[moment]));
    state.shown = data;
    writeTexts(root, { first: data.ends[0], last: data.ends[1] });
    paint(state);
  },
});
