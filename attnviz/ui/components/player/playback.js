// Changes the step and the source piece: playback, buttons, slider.

import { blurAfterClick, find, findAll } from "../shared.js";
import { change } from "../state.js";
import { chooseIn, shown } from "../view.js";
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
  const pace = () => PACE / shown(root).speed;
  const here = () => shown(root).now?.step ?? 0;
  const tick = () => {
    change(root, { step: here() + 1 });
    if (here() >= last()) {
      pause();
      paint(root, state);
    } else state.timer = setTimeout(tick, pace());
  };
  /** @param {Chosen} choice */
  const choose = (choice) => chooseIn(root, typeof choice === "function" ? choice(state) : choice);
  const play = () => {
    if (state.playing) {
      pause();
      paint(root, state);
      return;
    }
    state.playing = true;
    if (here() >= last()) change(root, { step: 0 });
    paint(root, state);
    state.timer = setTimeout(tick, pace());
  };
  return { choose, play, pause };
}

/** @param {HTMLElement} root */
export function speeds(root) {
  const buttons = findAll(root, ".speed button", HTMLButtonElement);
  /** @param {number} speed */
  const set = (speed) => {
    shown(root).speed = speed;
    for (const button of buttons) button.setAttribute("aria-pressed", String(Number(button.value) === speed));
  };
  for (const button of buttons) {
    button.onclick = (event) => {
      set(Number(button.value));
      blurAfterClick(event);
    };
  }
  set(shown(root).speed);
}

/**
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {PlayerControl} control
 */
export function buttons(root, state, control) {
  /** @type {(name: string, act: () => void) => void} */
  const press = (name, act) => {
    for (const button of findAll(root, name)) {
      button.onclick = (event) => {
        act();
        blurAfterClick(event);
      };
    }
  };
  press(".previous", () => control.choose({ step: state.step - 1 }));
  press(".next", () => control.choose({ step: state.step + 1 }));
  press(".play", control.play);
  press(".skip", () => find(root, ".play").focus());
  const slider = find(root, ".slide", HTMLInputElement);
  slider.oninput = () => control.choose({ step: Number(slider.value) - 1 });
  press(".follow", () => {
    // The button is hidden after the click: a keyboard user keeps the focus on the word.
    if (root.querySelector(".follow:focus-visible")) find(root, ".source .current").focus();
    control.choose({ source: null });
  });
}
