// The time of an animation, which goes on with the frames of the browser at the speed of the view.

import { viewState } from "./view.js";

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
        time = Math.min(time + Math.min(now - before, LONGEST_FRAME) * viewState(node).speed, until);
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
