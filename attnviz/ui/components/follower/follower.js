// Has its part of the page drawn anew when something else is on show than what it was drawn for, once it is near the
// window: the server draws it, and has better to do while nobody sees it.

import { find, states } from "../shared.js";
import { listenIn, send, shown } from "../view.js";

const NEAR = "50%"; // of the window's height

/**
 * Asks the server once where it is behind: it is told of a step elsewhere.
 * @param {HTMLElement} root
 * @param {FollowerState} state
 */
function check(root, state) {
  const selection = shown(root).server?.selection;
  if (!state.near || selection === undefined || selection === state.data.selection) return;
  if (selection === state.asked) return;
  state.asked = selection;
  send(root, "behind", state.data.part);
}

/**
 * @param {HTMLElement} root
 * @param {FollowerState} state
 * @returns {FollowerState}
 */
function start(root, state) {
  const end = listenIn(root, "server", () => check(root, state));
  // Near counts in the box that scrolls, where the browser knows of it; elsewhere in the window alone.
  const margins = { rootMargin: NEAR, scrollMargin: NEAR };
  const sight = new IntersectionObserver((entries) => {
    state.near = Boolean(entries.at(-1)?.isIntersecting);
    check(root, state);
  }, margins);
  sight.observe(root.closest(`.st-key-${state.data.container}`) ?? root);
  state.stop = () => {
    end();
    sight.disconnect();
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<FollowerRecord>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".follower");
  /** @type {FollowerState} */
  const state = states.get(root) ?? start(root, /** @type {FollowerState} */ ({ data }));
  Object.assign(state, { data, asked: undefined });
  check(root, state);
  return state.stop;
}
