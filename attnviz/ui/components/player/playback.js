// Playback, buttons and slider of the player: they change the step and the source piece of the view.

import { find, findAll, onPress } from "../shared.js";
import { change } from "../state.js";
import { send, sendChoice, speedOf, viewState } from "../view.js";
import { paint } from "./mark_step.js";

const PACE = 900; // milliseconds a step stays while playing at speed 1

/**
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @returns {PlayerControl}
 */
export function controller(root, state) {
  const last = () => state.data.weights.length - 1;
  const pause = () => {
    clearTimeout(state.timer);
    state.playing = false;
  };
  /** Goes on after the pace of the player, or once the diagram has shown the step. */
  const wait = () => {
    if (!viewState(root).playStep?.(tick)) state.timer = setTimeout(tick, PACE / speedOf(root));
  };
  const here = () => viewState(root).now?.step ?? 0;
  const tick = () => {
    if (!state.playing) return;
    change(root, { step: here() + 1 });
    if (here() >= last()) {
      pause();
      paint(root, state);
    } else wait();
  };
  /** @param {Chosen} choice */
  const choose = (choice) => sendChoice(root, typeof choice === "function" ? choice(state) : choice);
  const play = () => {
    if (state.playing) {
      pause();
      send(root, "pause");
      paint(root, state);
      return;
    }
    state.playing = true;
    if (here() >= last()) change(root, { step: 0 });
    paint(root, state);
    wait();
  };
  return { choose, play, pause };
}

/**
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {PlayerControl} control
 */
export function listenToButtons(root, state, control) {
  /** @type {(name: string, act: () => void) => void} */
  const onClick = (name, act) => {
    for (const button of findAll(root, name)) onPress(button, act);
  };
  onClick(".previous", () => control.choose({ step: state.step - 1 }));
  onClick(".next", () => control.choose({ step: state.step + 1 }));
  onClick(".play", control.play);
  const slider = find(root, ".slide", HTMLInputElement);
  slider.oninput = () => control.choose({ step: Number(slider.value) - 1 });
  onClick(".follow", () => {
    // The button is hidden after the click: a keyboard user keeps the focus on the word.
    if (root.querySelector(".follow:focus-visible")) find(root, ".source .current").focus();
    control.choose({ source: null });
  });
}
