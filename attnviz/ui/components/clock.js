// The time of an animation, which goes on with the frames of the browser at the speed of the view; the choice of that speed.

import { moveFocus } from "./keyboard.js";
import { element, find, makeOneTabStop, onPress } from "./shared.js";
import { onMessage, send, speedOf, viewState } from "./view.js";

/** @type {[string, number][]} */
const SPEEDS = [["½×", 0.5], ["1×", 1], ["2×", 2]];

const LONGEST_FRAME = 100; // milliseconds: an animation in a window that was hidden goes on where it was

/** The share of the way of a movement that begins and ends slowly, by the share of its time. @param {number} share */
export const eased = (share) => share * share * (3 - 2 * share);

/**
 * @param {Element} node in the view
 * @returns {Clock}
 */
export function newClock(node) {
  let frame = 0;
  /** @type {Clock} */
  const clock = {
    playing: false,
    play(from, until, draw) {
      clock.pause();
      let time = from, before = performance.now();
      const tick = () => {
        const now = performance.now();
        time = Math.min(time + Math.min(now - before, LONGEST_FRAME) * speedOf(node), until);
        before = now;
        clock.playing = time < until;
        if (clock.playing) frame = requestAnimationFrame(tick);
        draw(time);
      };
      clock.playing = true;
      frame = requestAnimationFrame(tick);
      draw(from);
    },
    pause() {
      cancelAnimationFrame(frame);
      clock.playing = false;
    },
  };
  return clock;
}

/**
 * Draws the choice of the speed of the view, which has one speed.
 * @param {HTMLElement} root
 * @returns {() => void} ends listening
 */
export function listenToSpeeds(root) {
  const buttons = SPEEDS.map(([text, speed]) => {
    const button = element("button", "", text);
    button.type = "button";
    onPress(button, () => {
      viewState(root).speed = speed;
      send(root, "speed");
    });
    return button;
  });
  const paint = () => {
    const chosen = SPEEDS.findIndex(([, speed]) => speed === speedOf(root));
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === chosen)));
    makeOneTabStop(buttons, buttons[chosen]);
  };
  const place = find(root, ".speed");
  place.replaceChildren(...buttons);
  place.onkeydown = (event) => moveFocus(event, buttons);
  paint();
  const ends = ["speed", "shown"].map((name) => onMessage(root, name, paint));
  return () => ends.forEach((end) => end());
}
