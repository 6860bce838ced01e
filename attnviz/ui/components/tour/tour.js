// The tour: a card that explains a translation stop by stop, with a highlight on the part of the page it is about. One
// payload has all stops.

import { handlePress, sendRequest } from "../outbox/outbox.js";
import { payloadOf } from "../payloads.js";
import { remember } from "../stored_choice/stored_choice.js";
import { element, fill, find, findAll, setLanguage, states, write } from "../shared.js";
import { onMessage, sendChoice, sendPreview, viewRoot, viewState } from "../view.js";

/**
 * The modules of the card, fetched when a tour is first opened.
 * @typedef {typeof import("./parts.js") & typeof import("./places.js") & typeof import("./quiz.js") & typeof import("./walking.js")} Contents
 */
/** @type {Contents | null} */
let contents = null;

/**
 * @param {HTMLElement} root
 * @param {TourState} state
 */
async function fetchContents(root, state) {
  const modules = [import("./parts.js"), import("./places.js"), import("./quiz.js"), import("./walking.js")];
  contents = Object.assign({}, ...await Promise.all(modules));
  if (states.has(root)) draw(root, state);
}

/**
 * Whether questions of the stop are still to be answered.
 * @param {TourStop} stop
 * @param {string} identity
 */
const isAsking = (stop, identity) => Boolean(contents?.isAsking(stop, identity));

/** @param {boolean} shown */
const showOffer = (shown) => document.documentElement.toggleAttribute("data-tour-offer", shown);
showOffer(true); // once this module handles its buttons

/**
 * Stores the answer to the offer of the tour, so that it is not offered again.
 * @param {"taken" | "declined"} how
 */
function storeAnswer(how) {
  remember("attnviz_tour", how);
  showOffer(false);
}

/**
 * Draws the current stop of the tour, or hides the card.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function draw(root, state) {
  const card = find(root, ".card");
  viewRoot(root).toggleAttribute("data-tour", state.at !== null);
  if (state.at === null) {
    viewRoot(root).toggleAttribute("data-quiz", false);
    for (const above of [card, find(root, ".light")]) contents?.togglePopover(above, false);
    return;
  }
  const payload = payloadOf(root, state, draw);
  if (payload && !contents) fetchContents(root, state);
  if (!payload || !contents) return; // the previous card stays meanwhile
  const stop = payload.stops[state.at - 1];
  setLanguage(payload.language);
  viewRoot(root).dataset.tour = contents.keyOf(stop.place);
  viewRoot(root).toggleAttribute("data-quiz", isAsking(stop, payload.identity));
  card.classList.toggle("asking", isAsking(stop, payload.identity));
  contents.togglePopover(find(root, ".light"), true);
  contents.togglePopover(card, true);
  const name = JSON.stringify([payload.identity, payload.language, state.at]);
  if (state.written !== name) {
    const began = state.written === undefined, held = cardHasFocus(root);
    state.written = name;
    writeCard(root, state, payload, stop, contents);
    showStop(root, state, stop);
    if (began || (held && !cardHasFocus(root))) card.focus({ preventScroll: true });
  }
  schedulePlacement(root, state);
}

/** @param {HTMLElement} root */
function cardHasFocus(root) {
  const { activeElement } = /** @type {ShadowRoot | Document} */ (root.getRootNode());
  return activeElement !== null && find(root, ".card").contains(activeElement);
}

/**
 * @param {HTMLElement} root
 * @param {TourState} state
 * @param {TourPayload} payload
 * @param {TourStop} stop
 * @param {Contents} made
 */
function writeCard(root, state, payload, stop, made) {
  const { words, stops, identity } = payload;
  for (const one of findAll(root, "[data-say]")) write(one, words[one.dataset.say ?? ""]);
  for (const one of findAll(root, "[data-label]")) one.setAttribute("aria-label", words[one.dataset.label ?? ""]);
  write(find(root, ".count"), fill(words.count, { n: stop.number, count: stops.length }));
  write(find(root, "h2"), stop.title);
  find(root, ".texts").replaceChildren(...stop.texts.map((spans) => made.sentenceElement(spans)));
  find(root, ".body").scrollTop = 0;
  const more = find(root, ".more"),
    redraw = () => {
      if (!stop.quiz) return;
      const within = more.contains(/** @type {ShadowRoot} */ (root.getRootNode()).activeElement);
      more.replaceChildren(made.quizBox(stop.quiz, identity, redraw, () => openNextPage(root, state)));
      const next = more.querySelector("button.onward, .word[tabindex='0']:enabled, .quiz > .plain");
      if (within && next instanceof HTMLElement) next.focus();
      find(root, ".texts").hidden = made.answersOf(identity).answers.length > 0;
      write(find(root, ".tour-keys"), isAsking(stop, identity) ? words.own : words.keys);
      draw(root, state);
    };
  resetBars(root);
  more.replaceChildren();
  find(root, ".texts").hidden = false;
  write(find(root, ".tour-keys"), words.keys);
  if (stop.pull) more.append(made.energySliders(root, stop.pull, stop.step, words));
  if (stop.after) more.append(made.comparedBars(stop.after, words));
  if (stop.quiz) redraw();
  const back = find(root, ".back", HTMLButtonElement), next = find(root, ".next", HTMLButtonElement);
  const { before, after } = made.adjacentStops(stops, stop.number);
  back.disabled = before === null;
  write(next, after === null ? words.finish : words.next);
  drawDots(root, state, payload, stop);
}

/**
 * Resets the page's bars if they follow the sliders of the card.
 * @param {HTMLElement} root
 */
function resetBars(root) {
  if (root.querySelector(".pull > .plain:not([hidden])")) sendPreview(root, null);
}

/**
 * Draws a button for each stop.
 * @param {HTMLElement} root
 * @param {TourState} state
 * @param {TourPayload} payload
 * @param {TourStop} stop
 */
function drawDots(root, state, { words, stops }, stop) {
  find(root, ".dots").replaceChildren(...stops.map(({ number: n, title, missing }) => {
    const dot = element("button", missing ? "dot missing" : "dot");
    dot.type = "button";
    dot.title = fill(words.stop, { n, title });
    dot.setAttribute("aria-label", dot.title);
    if (n === stop.number) dot.setAttribute("aria-current", "step");
    dot.onclick = () => go(root, state, n);
    return dot;
  }));
}

/**
 * Makes the page show the step of the stop, and its part in the window.
 * @param {HTMLElement} root
 * @param {TourState} state
 * @param {TourStop} stop
 */
function showStop(root, state, stop) {
  state.scrolled ??= contents?.scrollContainer().scrollTop ?? null;
  if (viewState(root).step !== stop.step || viewState(root).source !== null) {
    sendChoice(root, { step: stop.step, source: null });
  }
  scrollWhenDrawn(root, state, stop, 40);
}

/**
 * Scrolls to the part of a stop as soon as the page has drawn it.
 * @param {HTMLElement} root
 * @param {TourState} state
 * @param {TourStop} stop
 * @param {number} tries
 */
function scrollWhenDrawn(root, state, stop, tries) {
  if (state.at !== stop.number || !stop.place || !contents) return;
  const area = contents.areaOf(root, stop.place);
  if (area) {
    contents.bringIntoSight(root, area);
    schedulePlacement(root, state);
  } else if (tries > 0) setTimeout(() => scrollWhenDrawn(root, state, stop, tries - 1), 100);
}

/**
 * Positions highlight and card, at most once per animation frame.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function schedulePlacement(root, state) {
  if (state.frame) return;
  state.frame = requestAnimationFrame(() => {
    state.frame = 0;
    const payload = state.fetched?.payload, stop = payload?.stops[(state.at ?? 0) - 1];
    if (!states.has(root) || !payload || !stop || !contents) return;
    const isQuiz = isAsking(stop, payload.identity);
    contents.placeCard(root, isQuiz ? null : contents.areaOf(root, stop.place), isQuiz);
    find(root, ".astray").hidden = viewState(root).step === stop.step || Boolean(stop.quiz);
  });
}

/**
 * Goes to a stop; null ends the tour and restores the previous selection.
 * @param {HTMLElement} root
 * @param {TourState} state
 * @param {number | null} stop
 */
function go(root, state, stop) {
  if (stop !== state.at) sendChoice(root, { tour: stop });
}

/**
 * Ends the tour, and opens the next page.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function openNextPage(root, state) {
  go(root, state, null);
  sendRequest("page", "why");
}

/**
 * Cleans up after the tour: restores scroll position and focus.
 * @param {HTMLElement} root
 * @param {TourState} state
 */
function cleanUp(root, state) {
  const { scrolled, focused } = state, back = cardHasFocus(root);
  resetBars(root);
  Object.assign(state, { written: undefined, scrolled: null, focused: null });
  draw(root, state);
  if (scrolled !== null) contents?.scrollContainer().scrollTo({ top: scrolled });
  if (!back) return;
  const button = document.querySelector(".st-key-tour_button button");
  const target = focused?.isConnected && focused !== document.body ? focused : button;
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
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
  if (stop === null) cleanUp(root, state);
  else {
    storeAnswer("taken");
    draw(root, state);
  }
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
  const goToStop = (stop) => go(root, state, stop);
  const listening = new AbortController(), { signal } = listening;
  const redraw = () =>
    state.at !== null && state.written === undefined ? draw(root, state) : schedulePlacement(root, state);
  document.addEventListener("keydown", (event) => contents?.onTourKey(root, state, event, goToStop), { signal });
  document.addEventListener("scroll", redraw, { signal, capture: true, passive: true });
  addEventListener("resize", redraw, { signal });
  state.resizing = new ResizeObserver(() => { // the page grows while figures load, or with the level of detail
    const stop = state.fetched?.payload.stops[(state.at ?? 0) - 1];
    if (state.at !== null && stop && state.written !== undefined) scrollWhenDrawn(root, state, stop, 0);
    redraw();
  });
  state.resizing.observe(viewRoot(root));
  state.resizing.observe(find(root, ".card"));
  const ends = [
    handlePress("tour_button", () => goToStop(1)),
    handlePress("tour_take", () => goToStop(1)),
    handlePress("tour_decline", () => storeAnswer("declined")),
    onMessage(root, "shown", () => followStop(root, state)),
    onMessage(root, "step", redraw),
  ];
  find(root, ".close").onclick = () => goToStop(null);
  find(root, ".next").onclick = () => contents?.goForward(state, goToStop);
  find(root, ".back").onclick = () => contents?.goBack(state, goToStop);
  find(root, ".astray").onclick = () => {
    const stop = state.fetched?.payload.stops[(state.at ?? 0) - 1];
    if (stop) showStop(root, state, stop);
  };
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
