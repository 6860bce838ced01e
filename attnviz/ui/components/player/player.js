// The player: the source sentence, the translation, and the controls that move through the decoding steps. Mounts them
// and follows the selection of the view.

import { component } from "../component.js";
import { listenToSpeeds, newPlayer } from "../clock.js";
import { find, onPress } from "../elements.js";
import { unpackRows } from "../numbers.js";
import { change, publish } from "../state.js";
import { guestOf, onMessage, onViewKey, send, speedOf, viewRoot, viewState } from "../view.js";
import { onPlayerKey, releaseFocus } from "./keys.js";
import { buildSentences, paint, paintPointed, scrollBarToWords } from "./sentences.js";
import { drawSuspectedErrors } from "./suspected_errors.js";

/** Shows the bar at the top of the window while the buttons are above the window and their view is still in it. The
 * root margin extends the window downwards, since a jump may move the buttons from below to above at once. In a page of
 * others, the top of the window is not ours. */
function watchBar(/** @type {PlayerState} */ state) {
  const { root, signal } = state, bar = find(root, ".bar"), transport = find(root, ".transport");
  /** @type {Map<Element, IntersectionObserverEntry>} */
  const seen = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target, entry);
    const buttons = seen.get(transport), view = seen.get(viewRoot(root));
    bar.hidden = !(buttons && !buttons.isIntersecting && view?.isIntersecting) || guestOf(root) !== null;
    if (bar.hidden) return;
    viewRoot(root).style.setProperty("--bar", `${bar.offsetHeight}px`); // sticky elements are placed below it
    scrollBarToWords(state);
  }, { root: document.querySelector("[data-testid=stMain]"), rootMargin: "0px 0px 1000000px" });
  watch.observe(transport);
  watch.observe(viewRoot(root));
  signal.addEventListener("abort", () => watch.disconnect());
}

/** Draws the selection of the view, once that is of this translation. */
function showSelection(/** @type {PlayerState} */ state) {
  const { root, data } = state, view = viewState(root), { now } = view;
  if (!now || view.view?.identity !== data.identity) return;
  if (view.alignment !== state.alignment) {
    view.alignment = state.alignment;
    publish(root); // the strongest piece is now known; this calls `showSelection` again
    return;
  }
  Object.assign(state, { step: now.step, source: now.source, order: view.order, by: view.options.by });
  paint(state);
}

const PACE = 900; // milliseconds a step stays while playing at speed 1
const MOST_LARGE = 22; // words of a sentence in large letters, which fills a line or two beside the controls

export default component(".player", {
  begin: () => ({ step: 0, source: null }),
  start(/** @type {PlayerState} */ state) {
    const { root, signal } = state;
    state.player = newPlayer(state, {
      here: () => viewState(root).now?.step ?? 0,
      last: () => state.alignment.length - 1,
      go: (step) => change(root, { step }),
      choose: (step) => send(root, "choose", { step }),
      paint: () => paint(state),
      pace: () => PACE / speedOf(root),
    });
    onPress(find(root, ".follow"), () => {
      // The button is hidden after the click: a keyboard user keeps the focus on the word.
      if (root.querySelector(".follow:focus-visible")) find(root, ".source .current").focus();
      send(root, "choose", { source: null });
    });
    listenToSpeeds(state);
    watchBar(state);
    onViewKey(root, (event) => onPlayerKey(event, state), signal);
    onMessage(root, "choose", ({ detail }) => {
      if (detail.step !== undefined) state.player.pause();
    }, signal);
    onMessage(root, "shown", () => showSelection(state), signal);
    onMessage(root, "point", ({ detail }) => {
      state.pointed = detail;
      paintPointed(state);
    }, signal);
    /** @type {HTMLElement} */ (guestOf(root) ?? document.documentElement)
      .addEventListener("pointerup", releaseFocus, { signal });
  },
  take(state) {
    const { root, data, shown } = state;
    state.shown = data;
    root.classList.toggle("simple", data.simple);
    root.classList.toggle("long", Math.max(data.source.length, data.target.length) > MOST_LARGE);
    if (shown?.identity !== data.identity) {
      state.player.pause();
      state.alignment = unpackRows(data.alignment, data.source.flatMap(({ pieces }) => pieces).length);
      buildSentences(state);
    }
    if (data.suspectedErrors.length) drawSuspectedErrors(root, data.suspectedErrors);
    showSelection(state);
  },
});
