// The card of the tour: contents, highlight and place of the current stop. Buttons and keys move between the stops; in the
// quiz, arrow keys focus its words; Esc ends the tour.

import { isForPage } from "../keyboard.js";
import { sendRequest } from "../outbox/outbox.js";
import { element, find, findAll, write, writeTexts } from "../elements.js";
import { fill } from "../numbers.js";
import { send, viewRoot, viewState } from "../view.js";
import { answersOf, comparedBars, energySliders, isAsking, quizBox, sentenceElement } from "./parts.js";
import { areaOf, bringIntoSight, keyOf, placeCard, scrollContainer } from "./places.js";

/** Draws a stop of the tour. */
export function drawCard(/** @type {TourState} */ state, /** @type {TourPayload} */ payload) {
  const { root } = state, card = find(root, ".card"), stop = stopOf(state);
  if (!stop) return;
  viewRoot(root).dataset.tour = keyOf(stop.place);
  viewRoot(root).toggleAttribute("data-quiz", isAsking(stop, payload.identity));
  card.classList.remove("refused");
  card.classList.toggle("asking", isAsking(stop, payload.identity));
  showOrHide(root, true);
  const name = JSON.stringify([payload.identity, payload.language, payload.stops.length, state.at]);
  if (state.written !== name) {
    const began = state.written === undefined, held = cardHasFocus(root);
    state.written = name;
    writeCard(state, payload, stop);
    showStop(state, stop);
    if ((began || held) && !focusWord(card) && !cardHasFocus(root)) card.focus({ preventScroll: true });
  }
  schedulePlacement(state);
}

/** Draws in place of a stop why the server cannot make it. */
export function drawReason(/** @type {TourState} */ state, /** @type {string} */ reason) {
  const card = find(state.root, ".card");
  state.written = undefined;
  card.classList.add("refused");
  find(card, ".texts").replaceChildren(element("p", "", reason));
  card.togglePopover(true);
}

/** The current stop, where its payload has arrived: the last one for a link from a level of detail with more stops. */
function stopOf(/** @type {TourState} */ { at, fetched }) {
  const stops = fetched?.payload.stops;
  return at === null ? undefined : stops?.[at - 1] ?? stops?.at(-1);
}

/** Hides the card after the tour, and restores scroll position and focus. */
export function hideCard(/** @type {TourState} */ state) {
  const { root, scrolled, focused } = state, back = cardHasFocus(root);
  resetBars(root);
  Object.assign(state, { written: undefined, scrolled: null, focused: null });
  viewRoot(root).toggleAttribute("data-quiz", false);
  showOrHide(root, false);
  if (scrolled !== null) scrollContainer().scrollTo({ top: scrolled });
  if (!back) return;
  const [button] = findAll(document, ".st-key-tour_button button");
  (focused?.checkVisibility() && focused !== document.body ? focused : button)?.focus({ preventScroll: true });
}

const cardHasFocus = (/** @type {HTMLElement} */ root) => find(root, ".card").matches(":focus-within");

/** @param {TourState} state @param {TourPayload} payload @param {TourStop} stop */
function writeCard(state, payload, stop) {
  const { root } = state, { words, stops, identity } = payload;
  const count = fill(words.count, { n: stop.number, count: stops.length });
  writeTexts(root, { ...words, count, title: stop.title });
  find(root, ".texts").replaceChildren(...stop.texts.map((spans) => sentenceElement(spans)));
  find(root, ".body").scrollTop = 0;
  const openNextPage = () => {
    send(root, "choose", { tour: null });
    sendRequest("page", "why");
  };
  const more = find(root, ".more"),
    redraw = () => {
      if (!stop.quiz) return;
      const within = more.matches(":focus-within");
      more.replaceChildren(quizBox(stop.quiz, identity, redraw, openNextPage));
      if (within && !focusWord(more)) findAll(more, "button.onward, .quiz > .plain")[0]?.focus();
      find(root, ".texts").hidden = answersOf(identity).answers.length > 0;
      write(find(root, ".tour-keys"), isAsking(stop, identity) ? words.own : words.keys);
      drawCard(state, payload);
    };
  resetBars(root);
  more.replaceChildren();
  find(root, ".texts").hidden = false;
  write(find(root, ".tour-keys"), words.keys);
  if (stop.pull) more.append(energySliders(root, stop.pull, stop.step, words));
  if (stop.after) more.append(comparedBars(stop.after, words));
  if (stop.quiz) redraw();
  const back = find(root, ".back", HTMLButtonElement), next = find(root, ".next", HTMLButtonElement);
  back.disabled = !around(state)?.before;
  write(next, around(state)?.after ? words.next : words.finish);
  find(root, ".dots").replaceChildren(...stops.map(({ number: n, title, missing }) => {
    const label = fill(words.stop, { n, title }), onclick = () => send(root, "choose", { tour: n });
    const ariaCurrent = n === stop.number ? "step" : null;
    return element("button", missing ? "dot missing" : "dot", { title: label, ariaLabel: label, ariaCurrent, onclick });
  }));
}

/** Resets the page's bars if they follow the sliders of the card. */
function resetBars(/** @type {HTMLElement} */ root) {
  if (root.querySelector(".pull > .plain:not([hidden])")) send(root, "preview", null);
}

/** Makes the page show the step of the stop, and its part in the window. */
function showStop(/** @type {TourState} */ state, /** @type {TourStop} */ stop) {
  const { root } = state;
  state.scrolled ??= scrollContainer().scrollTop;
  if (viewState(root).step !== stop.step || viewState(root).source !== null) {
    send(root, "choose", { step: stop.step, source: null });
  }
  scrollWhenDrawn(state, stop, 40);
}

/** Makes the page show the current stop again; after the page has grown, only in the window. */
export function showAgain(/** @type {TourState} */ state, /** @type {{ step: boolean }} */ { step }) {
  const stop = stopOf(state);
  if (!stop || state.written === undefined) return;
  if (step) showStop(state, stop);
  else scrollWhenDrawn(state, stop, 0);
}

/** Scrolls to the part of a stop as soon as the page has drawn it.
 * @param {TourState} state @param {TourStop} stop @param {number} tries */
function scrollWhenDrawn(state, stop, tries) {
  const { root } = state;
  if (state.at !== stop.number || !stop.place) return;
  const area = areaOf(root, stop.place);
  if (area) {
    bringIntoSight(root, area);
    schedulePlacement(state);
  } else if (tries > 0) setTimeout(() => scrollWhenDrawn(state, stop, tries - 1), 100);
}

/** Positions highlight and card, at most once per animation frame. */
export function schedulePlacement(/** @type {TourState} */ state) {
  const { root } = state;
  if (state.frame || state.at === null) return;
  state.frame = requestAnimationFrame(() => {
    state.frame = 0;
    const payload = state.fetched?.payload, stop = stopOf(state);
    if (state.signal.aborted || !payload || !stop) return;
    const isQuiz = isAsking(stop, payload.identity);
    placeCard(root, isQuiz ? null : areaOf(root, stop.place), isQuiz);
    find(root, ".astray").hidden = viewState(root).step === stop.step || Boolean(stop.quiz);
  });
}

/** Shows or hides the highlight and the card, which are popovers: they lie above the page. */
function showOrHide(/** @type {HTMLElement} */ root, /** @type {boolean} */ isOpen) {
  if (root.isConnected) { for (const name of [".light", ".card"]) find(root, name).togglePopover(isOpen); }
}

const LEFT_OR_RIGHT = ["ArrowLeft", "ArrowRight"];

/** Focuses the current word of a question of the quiz; returns whether one is waiting for an answer. */
function focusWord(/** @type {HTMLElement} */ root) {
  const [word] = findAll(root, ".english .word[tabindex='0']:enabled");
  word?.focus({ preventScroll: true });
  return word !== undefined;
}

/** Handles a key during the tour: arrow keys go from stop to stop, in the quiz to its words, and Esc ends it.
 * @param {TourState} state @param {KeyboardEvent} event @param {(stop: number | null) => void} go */
export function onTourKey(state, event, go) {
  const { root } = state;
  if (state.at === null || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const path = event.composedPath(), own = path.includes(find(root, ".card"));
  const handledElsewhere = !isForPage(event, ".card") || path[0] instanceof HTMLInputElement ||
    Boolean(root.querySelector("[role='group'].english :focus"));
  if (event.key === "Escape" && (own || !handledElsewhere)) go(null);
  else if (handledElsewhere || !around(state)) return;
  else if (root.querySelector(".card.asking") && LEFT_OR_RIGHT.includes(event.key)) focusWord(root);
  else if (event.key === "ArrowRight" && around(state)?.after) turn(state, "after", go); // at the last stop, only the button ends
  else if (event.key === "ArrowLeft") turn(state, "before", go);
  else return;
  event.preventDefault();
}

/** The stops before and after the current one that this translation has, null where there is none; undefined while they
 * are not known. */
function around(/** @type {TourState} */ state) {
  const here = stopOf(state)?.number;
  if (here === undefined) return undefined;
  const existing = state.fetched?.payload.stops.filter(({ missing }) => !missing).map(({ number }) => number) ?? [];
  return { before: existing.findLast((one) => one < here) ?? null, after: existing.find((one) => one > here) ?? null };
}

/** Goes to the stop after this one, where the tour ends after the last, or to that before it.
 * @param {TourState} state @param {"before" | "after"} way @param {(stop: number | null) => void} go */
export function turn(state, way, go) {
  const stops = around(state);
  if (stops && (way === "after" || stops.before)) go(stops[way]);
}
