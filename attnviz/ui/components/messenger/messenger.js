// What goes between the browser and the server of a view. Components tell it what a visitor chose; it tells them what the
// server says, once the view has it.

const LATE = 80; // milliseconds to wait for another key before the server is told

/**
 * @param {HTMLElement} root
 * @returns {MessengerState}
 */
function start(root) {
  const state = /** @type {MessengerState} */ ({});
  const ends = [
    listenIn(root, "tell", ({ detail }) => {
      clearTimeout(state.late);
      state.late = setTimeout(() => state.tell("chosen", detail), LATE);
    }),
  ];
  /** The page is gone through by Back or Forward. */
  const back = () => {
    state.wentBack = performance.now();
  };
  window.addEventListener("popstate", back);
  state.stop = () => {
    clearTimeout(state.late);
    for (const end of ends) end();
    window.removeEventListener("popstate", back);
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<ServerRecord>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = find(parentElement, ".messenger");
  /** @type {MessengerState} */
  const state = states.get(root) ?? start(root);
  state.tell = setTriggerValue;
  // What was chosen in another translation is not for this one.
  if (shown(root).server?.identity !== data.identity) clearTimeout(state.late);
  shown(root).server = data;
  send(root, "server");
  writeAddress(state, data.address);
  return state.stop;
}
