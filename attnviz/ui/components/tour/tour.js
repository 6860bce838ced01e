// The tour in the browser: opens and closes it, and has `card.js` draw the stops. One payload has all stops.
// Its button stands out for new visitors until they press a key, scroll, or open or drag something.

import { component } from "../component.js";
import { handlePress } from "../outbox/outbox.js";
import { payloadOf } from "../payloads.js";
import { remember } from "../stored_choice/stored_choice.js";
import { find, onResize } from "../elements.js";
import { onMessage, send, viewRoot, viewState } from "../view.js";
import { drawCard, drawReason, hideCard, onTourKey, schedulePlacement, showAgain, turn } from "./card.js";

/** Lets the button of the tour stand out no longer. */
const endOffer = () => document.documentElement.toggleAttribute("data-at-work", true);

/** Draws the current stop of the tour; while it is fetched, the previous one stays. */
function draw(/** @type {TourState} */ state) {
  const { root } = state;
  viewRoot(root).toggleAttribute("data-tour", state.at !== null);
  if (state.at === null) return;
  const payload = payloadOf(state, draw), { refused } = root.dataset;
  if (payload) drawCard(state, payload);
  else if (refused) drawReason(state, refused);
}

/** Follows the stop of the view. */
function followStop(/** @type {TourState} */ state) {
  const { root } = state, { now } = viewState(root), stop = now?.tour?.stop ?? null;
  if (stop === state.at) return;
  if (state.at === null && document.activeElement instanceof HTMLElement) state.focused = document.activeElement;
  state.at = stop;
  if (stop !== null) {
    remember("attnviz_tour", "taken"); // not offered at the next visit
    endOffer();
  }
  draw(state);
  if (stop === null) hideCard(state);
}

export default component(".tour", {
  begin: () => ({ at: null, scrolled: null, focused: null, frame: 0 }),
  start(state) {
    const { root, signal } = state;
    state.inSight = true; // its payload is fetched at once
    const goToStop = (/** @type {number | null} */ stop) => {
      if (stop !== state.at) send(root, "choose", { tour: stop });
    };
    const redraw = () => state.at !== null && state.written === undefined ? draw(state) : schedulePlacement(state);
    document.addEventListener("keydown", (event) => onTourKey(state, event, goToStop), { signal });
    document.addEventListener("scroll", redraw, { signal, capture: true, passive: true });
    for (const name of ["keydown", "wheel", "touchmove"]) {
      document.addEventListener(name, endOffer, { signal, passive: true });
    }
    addEventListener("resize", redraw, { signal });
    const grow = () => { // the page grows while figures load, or with the level of detail
      showAgain(state, { step: false });
      redraw();
    };
    onResize(grow, signal, viewRoot(root), find(root, ".card"));
    handlePress("tour_button", () => goToStop(1), signal);
    onMessage(root, "shown", () => {
      followStop(state);
      redraw();
    }, signal);
    onMessage(root, "choose", ({ detail }) => detail?.stage && endOffer(), signal);
    onMessage(root, "weigh", ({ detail }) => detail && endOffer(), signal);
    find(root, ".close").onclick = () => goToStop(null);
    find(root, ".next").onclick = () => turn(state, "after", goToStop);
    find(root, ".back").onclick = () => turn(state, "before", goToStop);
    find(root, ".astray").onclick = () => showAgain(state, { step: true });
    signal.addEventListener("abort", () => cancelAnimationFrame(state.frame));
  },
  take(/** @type {TourState} */ state) {
    followStop(state);
    draw(state);
  },
});
