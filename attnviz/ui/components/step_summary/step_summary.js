// The summary of the current step: what it wrote, and the outcome of each of its stages, with a link that scrolls to
// it.

import { component } from "../component.js";
import { button, element, find, findAll, keepInWindow, scrollSmoothly, write, writeTexts } from "../elements.js";
import { isForPage, isLecture, makeOneTabStop, moveFocus } from "../keyboard.js";
import { onMessage, onViewKey, send, viewRoot, viewState } from "../view.js";

/** The element of a stage in the view of `root`: its own, or the picture of the first three. */
const stageOf = (/** @type {Element} */ root, /** @type {number} */ stage) =>
  viewRoot(root).querySelector(`[class*="st-key-stage_${stage}"]`) ??
    viewRoot(root).querySelector('[class*="st-key-one_picture"]');

/** Whether a stage opens in the place of the diagram (page.css). */
const opensInPlace = (/** @type {HTMLElement} */ root) =>
  getComputedStyle(root).getPropertyValue("--opens-in-place") === "1" &&
  !viewRoot(root).hasAttribute("data-tour");

/** Marks the button of the chosen stage; the page marks the stage itself by `data-stage` (page.css). */
function mark(/** @type {HTMLElement} */ root, /** @type {number | null} */ chosen) {
  const buttons = findAll(root, "li button");
  const current = buttons.find(({ dataset }) => Number(dataset.stage) === chosen);
  makeOneTabStop(buttons, current ?? buttons.find(({ tabIndex }) => tabIndex === 0));
  for (const each of buttons) {
    each.ariaCurrent = each === current ? "location" : null;
    each.ariaExpanded = opensInPlace(root) ? String(each === current) : null;
  }
}

/** Scrolls to a stage; one that opens in place moves the page only as far as it is out of the window. */
function goToStage(/** @type {HTMLElement} */ root, /** @type {number} */ stage) {
  const place = stageOf(root, stage), inPlace = opensInPlace(root);
  if (!place) return;
  if (!inPlace) scrollSmoothly(place);
  keepInWindow(place, inPlace ? "nearest" : "start");
}

/** Moves the keyboard focus to a stage further down the page, or to the button of one that opens in place. */
function focusStage(/** @type {HTMLElement} */ root, /** @type {number} */ stage) {
  const place = opensInPlace(root) ? root.querySelector(`[data-stage="${stage}"]`) : stageOf(root, stage);
  if (!(place instanceof HTMLElement)) return;
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

/** Opens the next stage; after the last, closes it, or goes to the first where all are drawn. In lecture mode, the
 * diagram comes before the first stage, and the heatmap after the last (page.css). */
function nextStage(/** @type {HTMLElement} */ root) {
  const buttons = findAll(root, "li button"), last = buttons.length - 1;
  const place = buttons.findIndex((button) => button.hasAttribute("aria-current"));
  const { dataset } = viewRoot(root);
  if (isLecture() && place < 0 && !dataset.picture) {
    dataset.picture = "diagram";
    return;
  }
  if (place === last) delete dataset.picture;
  buttons[place < last ? place + 1 : opensInPlace(root) ? last : 0]?.click();
}

function entry(/** @type {StageTitle} */ { number, place, title }) {
  const press = (/** @type {MouseEvent} */ event) => {
    const root = /** @type {HTMLElement} */ (made.closest(".facts"));
    const closes = opensInPlace(root) && viewState(root).now?.stage === number;
    send(root, "choose", { stage: closes ? null : number });
    if (!closes) goToStage(root, number);
    if (event.detail === 0 && document.activeElement === made) focusStage(root, number); // pressed with the keyboard
  };
  const texts = [element("span", "number", String(place)), element("span", "title", title), element("span", "outcome")];
  const made = button("", press, ...texts, { dataset: { stage: number } });
  return element("li", "", made);
}

/** Marks the chosen stage, and goes there if it comes from a link. A step marks nothing anew: that would compute
 * styles. */
function place(/** @type {SummaryState} */ state) {
  const { root } = state, { now } = viewState(root);
  if (!now) return;
  const { stage } = now;
  if (!state.placed && stage) {
    requestAnimationFrame(() => { // once the stages and their styles are there
      const stays = opensInPlace(root) || matchMedia("(max-width: 699px)").matches; // a phone shows first what a link is about
      if (!stays) goToStage(root, stage);
    });
  }
  state.placed = true;
  const view = viewRoot(root), isWide = matchMedia("(min-width: 1000px)").matches;
  const marked = [now.stage, view.hasAttribute("data-tour"), view.hasAttribute("data-diagram"), isWide, isLecture()]
    .join();
  if (marked === state.marked) return;
  state.marked = marked;
  mark(root, now.stage);
}

export default component(".facts", {
  start(/** @type {SummaryState} */ state) {
    const { root, signal } = state;
    onMessage(root, "shown", () => place(state), signal);
    onMessage(root, "visit", ({ detail }) => {
      send(root, "choose", { stage: detail });
      goToStage(root, detail);
      if (document.activeElement?.matches(":focus-visible")) focusStage(root, detail); // pressed with the keyboard
    }, signal);
    onViewKey(root, (event) => {
      if (event.key.toLowerCase() !== "s" || !isForPage(event) || viewRoot(root).hasAttribute("data-tour")) return;
      event.preventDefault();
      nextStage(root);
    }, signal);
  },
  take(state, /** @type {SummaryPayload} */ { steps, stages }) {
    state.data = steps;
    const titles = stages.map(({ title }) => title).join();
    if (titles !== state.titles) {
      state.titles = titles;
      const list = find(state.root, "ol");
      list.replaceChildren(...stages.map(entry));
      list.onkeydown = (event) => moveFocus(event, findAll(list, "button"));
    }
    state.marked = undefined;
    place(state);
    return true;
  },
  show({ root }, steps) {
    const facts = steps[viewState(root).step ?? -1];
    if (!facts) return;
    const { outcomes, ...texts } = facts;
    writeTexts(root, texts);
    findAll(root, ".outcome").forEach((node, k) => write(node, outcomes[k]));
  },
});
