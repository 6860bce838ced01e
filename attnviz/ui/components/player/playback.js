// What the buttons, keys and pictures do to the step and the source piece. A choice is shown at once; the server hears of
// it afterwards, for the address and the choice of words.

import { find, findAll, letGo } from "../shared.js";
import { send, shown } from "../view.js";
import { paint } from "./mark_step.js";

const PACE = 900; // milliseconds a step stays while playing at speed 1

/**
 * Takes a choice into `state`, shows it, and tells the server.
 * @param {HTMLElement} root
 * @param {PlayerState} state
 * @param {Choice} choice
 */
function take(root, state, choice) {
  /** @type {(index: number, count: number) => number} */
  const within = (index, count) => Math.min(Math.max(index, 0), count - 1);
  const { weights, orders } = state.data;
  if (choice.step !== undefined) state.step = within(choice.step, weights.length);
  if (choice.source !== undefined) {
    state.source = choice.source === null ? null : within(choice.source, orders[0].length);
  }
  if (choice.order !== undefined) state.order = choice.order;
  // Word and stage are known to the server alone; a word belongs to its step.
  const pending = choice.step === undefined ? state.sent : { ...state.sent, word: null };
  state.sent = { ...pending, ...choice, step: state.step, source: state.source };
  state.sentAt = performance.now();
  paint(root, state);
  send(root, "tell", state.sent);
  delete state.sent.tour; // told once: later choices are no step of the tour
}

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
  const tick = () => {
    take(root, state, { step: state.step + 1 });
    if (state.step >= last()) {
      pause();
      paint(root, state);
    } else state.timer = setTimeout(tick, pace());
  };
  /** @param {Chosen} choice */
  const choose = (choice) => {
    const chosen = typeof choice === "function" ? choice(state) : choice;
    if (chosen.step !== undefined) pause();
    take(root, state, chosen);
  };
  const play = () => {
    if (state.playing) {
      pause();
      paint(root, state);
      return;
    }
    state.playing = true;
    if (state.step >= last()) take(root, state, { step: 0 });
    else paint(root, state);
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
      letGo(event);
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
        letGo(event);
      };
    }
  };
  press(".previous", () => control.choose({ step: state.step - 1 }));
  press(".next", () => control.choose({ step: state.step + 1 }));
  press(".play", control.play);
  press(".skip", () => find(root, ".play").focus());
  press(".follow", () => {
    // The button goes with what it lets go of: whoever came to it by the keyboard is not to lose the focus.
    if (root.querySelector(".follow:focus-visible")) find(root, ".source .current").focus();
    control.choose({ source: null });
  });
}
