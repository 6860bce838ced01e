// The time of an animation, which goes on with the frames of the browser at the speed of the view; the choice of that speed;
// the player of steps.

import { button, find, findAll, onPress, write } from "./elements.js";
import { isForPage, isPlayKey, makeOneTabStop, moveFocus, stepForKey } from "./keyboard.js";
import { onMessage, send, speedOf, viewState } from "./view.js";

/** @type {[string, number][]} */
const SPEEDS = [["½×", 0.5], ["1×", 1], ["2×", 2]];
const LONGEST_FRAME = 100; // milliseconds: an animation in a window that was hidden goes on where it was

/** The value on the way from one to another. @type {(from: number, to: number, share: number) => number} */
export const between = (from, to, share) => from + (to - from) * share;
export const clamp = (/** @type {number} */ share) => Math.min(Math.max(share, 0), 1);

/** The share of the way of a movement that begins and ends slowly, by the share of its time. */
export const eased = (/** @type {number} */ share) => share * share * (3 - 2 * share);

/** A clock, which ends with a component. @param {Pick<ComponentState, "root" | "signal">} state @returns {Clock} */
export function newClock({ root, signal }) {
  let frame = 0;
  /** @type {Clock} */
  const clock = {
    playing: false,
    play(from, until, draw) {
      clock.pause();
      let time = from, before = performance.now();
      const tick = () => {
        const now = performance.now();
        time = Math.min(time + Math.min(now - before, LONGEST_FRAME) * speedOf(root), until);
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
  signal.addEventListener("abort", clock.pause);
  return clock;
}

const SLIDER = "[type='range']"; // of the steps, from its `min`

/** A player with its buttons and its slider, which ends with a component. Where the diagram shows the computation of a
 * step, the next one follows that. @param {ComponentState} state @param {PlayedSteps} steps @returns {Player} */
export function newPlayer({ root, signal }, { here, last, go, paint, pace, choose = go }) {
  const slider = find(root, SLIDER, HTMLInputElement), first = Number(slider.min);
  let timer = 0;
  const pause = () => {
    clearTimeout(timer);
    player.playing = false;
  };
  const next = () => {
    if (!player.playing) return;
    go(Math.min(here() + 1, last()));
    if (here() < last()) wait();
    else {
      pause();
      paint();
    }
  };
  const wait = () => {
    if (!viewState(root).playStep?.(next)) timer = setTimeout(next, pace());
  };
  const toggle = () => {
    if (player.playing) {
      pause();
      send(root, "pause");
    } else {
      player.playing = last() > 0;
      if (here() >= last()) go(0);
      if (player.playing) wait();
    }
    paint();
  };
  const leap = (/** @type {number} */ step) => {
    pause();
    choose(Math.min(Math.max(step, 0), last()));
  };
  /** @type {Player} */
  const player = {
    playing: false,
    pause,
    toggle,
    leap,
    onKey(event) {
      const step = isForPage(event, SLIDER) ? stepForKey(event, here(), last()) : null;
      if (step !== null) leap(step);
      else if (isForPage(event, SLIDER) && isPlayKey(event)) toggle();
      else return;
      event.preventDefault();
    },
    write({ play, pause: stop }, text) {
      Object.assign(slider, { max: first + last(), value: first + here(), ariaValueText: text });
      write(find(root, ".verb"), player.playing ? stop : play);
      for (const button of findAll(root, ".previous", HTMLButtonElement)) button.disabled = here() <= 0;
      for (const button of findAll(root, ".next", HTMLButtonElement)) button.disabled = here() >= last();
    },
  };
  for (const button of findAll(root, ".previous")) onPress(button, () => leap(here() - 1));
  for (const button of findAll(root, ".next")) onPress(button, () => leap(here() + 1));
  onPress(find(root, ".play"), toggle);
  slider.oninput = () => leap(Number(slider.value) - first);
  signal.addEventListener("abort", pause);
  return player;
}

/** Draws the choice of the speed of the view, which has one speed. */
export function listenToSpeeds(/** @type {ComponentState} */ { root, signal }) {
  const buttons = SPEEDS.map(([text, speed]) =>
    button("", () => {
      viewState(root).speed = speed;
      send(root, "shown");
    }, text)
  );
  const paint = () => {
    const chosen = SPEEDS.findIndex(([, speed]) => speed === speedOf(root));
    buttons.forEach((made, k) => made.ariaPressed = String(k === chosen));
    makeOneTabStop(buttons, buttons[chosen]);
  };
  const place = find(root, ".speed");
  place.replaceChildren(...buttons);
  place.onkeydown = (event) => moveFocus(event, buttons);
  paint();
  onMessage(root, "shown", paint, signal);
}
