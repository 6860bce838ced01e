// Playback, buttons and slider of the player: they change the step and the source piece of the view.

import { newPlayer } from "../clock.js";
import { find, findAll, onPress } from "../shared.js";
import { change } from "../state.js";
import { sendChoice, speedOf, viewState } from "../view.js";
import { paint } from "./mark_step.js";

const PACE = 900; // milliseconds a step stays while playing at speed 1

/** @param {PlayerState} state */
export const playerOf = (state) =>
  newPlayer(state, {
    here: () => viewState(state.root).now?.step ?? 0,
    last: () => state.data.weights.length - 1,
    go: (step) => change(state.root, { step }),
    paint: () => paint(state),
    pace: () => PACE / speedOf(state.root),
  });

/** @param {PlayerState} state */
export function listenToButtons(state) {
  const { root, player } = state, slider = find(root, ".slide", HTMLInputElement);
  /** @type {(name: string, act: () => void) => void} */
  const onClick = (name, act) => findAll(root, name).forEach((button) => onPress(button, act));
  onClick(".previous", () => sendChoice(root, { step: state.step - 1 }));
  onClick(".next", () => sendChoice(root, { step: state.step + 1 }));
  onClick(".play", player.toggle);
  slider.oninput = () => sendChoice(root, { step: Number(slider.value) - 1 });
  onClick(".follow", () => {
    // The button is hidden after the click: a keyboard user keeps the focus on the word.
    if (root.querySelector(".follow:focus-visible")) find(root, ".source .current").focus();
    sendChoice(root, { source: null });
  });
}
