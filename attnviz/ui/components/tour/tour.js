// The tour in the browser: opens and closes it, and has `card.js` draw the stops. One payload has all stops.
// Its button stands out for new visitors until they press a key, scroll, or open or drag something.

import { handlePress } from "../outbox/outbox.js";
import { payloadOf } from "../payloads.js";
import { remember } from "../stored_choice/stored_choice.js";
import { find, states } from "../shared.js";
import { onMessage, sendChoice, viewRoot, viewState } from "../view.js";

/** The module of the card, fetched when a tour is first opened. @type {typeof import("./card.js") | null} */
let card = null;

/**
 * @param {HTMLElement} root
 * @param {TourState} state
 */
async function fetchCard(root, state) {
  card = await import("./card.js");
  if (states.has(root)) draw(root, state);
}

/** Lets the button of the tour stand out no longer. */
const endOffer = () => document.documentElement.toggleAttribute("data-at-work", true);

/**
 * Draws the current stop of the tour; while it is fetched, the previous one stays.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function draw(root, state) {
  viewRoot(root).toggleAttribute("data-tour", state.at !== null);
  if (state.at === null) return;
  const payload = payloadOf(root, state, draw);
  if (!card) fetchCard(root, state);
  else if (payload) card.drawCard(root, state, payload);
}

/**
 * Follows the stop of the view.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function followStop(root, state) {
  const { now } = viewState(root), stop = now?.tour?.stop ?? null;
  if (stop === state.at) return;
  if (state.at === null && document.activeElement instanceof HTMLElement) state.focused = document.activeElement;
  state.at = stop;
  if (stop !== null) {
    remember("attnviz_tour", "taken"); // not offered at the next visit
    endOffer();
  }
  draw(root, state);
  if (stop === null) card?.hideCard(root, state);
}

/**
 * @param {HTMLElement} root
 * @returns {TourState}
 */
function start(root) {
  const begun = { at: null, scrolled: null, focused: null, frame: 0 };
  const state = /** @type {TourState} */ (/** @type {Partial<TourState>} */ (begun));
  state.inSight = true; // its payload is fetched at once
  /** @type {(stop: number | null) => void} */
  const goToStop = (stop) => {
    if (stop !== state.at) sendChoice(root, { tour: stop });
  };
  const listening = new AbortController(), { signal } = listening;
  const redraw = () =>
    state.at !== null && state.written === undefined ? draw(root, state) : card?.schedulePlacement(root, state);
  document.addEventListener("keydown", (event) => card?.onTourKey(root, state, event, goToStop), { signal });
  document.addEventListener("scroll", redraw, { signal, capture: true, passive: true });
  for (const name of ["keydown", "wheel", "touchmove"]) {
    document.addEventListener(name, endOffer, { signal, passive: true });
  }
  addEventListener("resize", redraw, { signal });
  state.resizing = new ResizeObserver(() => { // the page grows while figures load, or with the level of detail
    card?.showAgain(root, state, { step: false });
    redraw();
  });
  state.resizing.observe(viewRoot(root));
  state.resizing.observe(find(root, ".card"));
  const ends = [
    handlePress("tour_button", () => goToStop(1)),
    onMessage(root, "shown", () => followStop(root, state)),
    onMessage(root, "step", redraw),
    onMessage(root, "choose", ({ detail }) => detail?.stage && endOffer()),
    onMessage(root, "weigh", ({ detail }) => detail && endOffer()),
  ];
  find(root, ".close").onclick = () => goToStop(null);
  find(root, ".next").onclick = () => card?.goForward(state, goToStop);
  find(root, ".back").onclick = () => card?.goBack(state, goToStop);
  find(root, ".astray").onclick = () => card?.showAgain(root, state, { step: true });
  states.set(root, state);
  state.stop = () => {
    listening.abort();
    state.resizing?.disconnect();
    for (const end of ends) end();
    cancelAnimationFrame(state.frame);
    states.delete(root);
  };
  return state;
}

/** @param {Mounted<PayloadAddress>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".tour");
  /** @type {TourState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  followStop(root, state);
  draw(root, state);
  return state.stop;
}
