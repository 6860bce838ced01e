// A player of several translations side by side, stepped together. `drawing.js` builds and redraws their lanes.

import { component } from "../component.js";
import { newPlayer } from "../clock.js";
import { find, findAll, write, writeTexts } from "../shared.js";
import { change } from "../state.js";
import { onMessage, onViewKey, viewState } from "../view.js";
import { build, paintLane } from "./drawing.js";

const PACE = 800; // milliseconds a step stays while playing

/** Shows the step of the view. @param {LanesState} state */
function show(state) {
  const { root, payload } = state, { step } = viewState(root);
  if (!payload || step === null) return;
  state.step = Math.min(Math.max(step, 0), payload.labels.length - 1);
  const { lanes, labels, words } = payload, label = labels[state.step];
  findAll(root, ".lane").forEach((node, k) => paintLane(root, node, lanes[k], state.step));
  state.player.write(words, label);
  write(find(root, ".where"), label);
}

export default component(".lanes", {
  isText: true,
  begin: () => ({ payload: null, step: 0 }),
  start(state) {
    const { root, signal } = state;
    const player = state.player = newPlayer(state, {
      here: () => state.step,
      last: () => (state.payload?.labels.length ?? 1) - 1,
      go(step) {
        if (state.payload) change(root, { step });
      },
      paint: () => show(state),
      pace: () => PACE,
    });
    onViewKey(root, player.onKey, signal);
    onMessage(root, "choose", ({ detail }) => {
      if (detail.step === undefined) return;
      player.pause();
      show(state);
    }, signal);
  },
  /** @param {LanesState} state @param {LanesPayload | PayloadAddress & { waiting: string }} data */
  take(state, data) {
    state.root.dataset.message = "at" in data ? data.waiting : "";
    state.inSight ||= !("at" in data); // what is sent with the page is drawn at once
  },
  read(state, payload) {
    writeTexts(state.root, payload.words);
    build(state.root, payload);
  },
  show,
});
