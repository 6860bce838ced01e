// The card that explains a term: its name, a small drawing (view_state.html), a sentence, and a link to the stage that computes it. It opens on
// hover, focus and tap: of terms in sentences (terms.js), of titles of stages, and in the diagram.

import { find, onResize, writeTexts } from "../elements.js";
import { onEscape } from "../keyboard.js";
import { send, viewRoot, viewState } from "../view.js";

const GAP = 6; // pixels between a term and its card

/** Shows a card beside its term; with `close`, it has a link to its stage, which closes it.
 * @param {HTMLElement} root @param {HTMLElement} box @param {HTMLElement | SVGElement} term @param {TermCard} card
 * @param {(() => void) | null} close */
function showCard(root, box, term, { name, sentence, drawing, stage }, close) {
  const picture = find(root, `[data-drawing="${drawing}"]`, HTMLTemplateElement), link = find(box, ".visit");
  find(box, ".picture").replaceChildren(picture.content.cloneNode(true));
  writeTexts(box, { name, sentence, visit: viewState(root).view?.terms.visit ?? "" });
  link.hidden = !close;
  link.onclick = () => {
    if (stage !== null) send(root, "visit", stage); // while this button has the focus
    close?.();
  };
  if (!box.matches(":popover-open")) box.showPopover(term instanceof HTMLElement ? { source: term } : {}); // Tab goes from the term to the link
  // In a sentence, above it: what follows from a term stands after it.
  keepBeside(box, term, term.closest("p, text"));
}

/** Makes a button open a popover beside it. */
export function openBeside(/** @type {HTMLButtonElement} */ button, /** @type {HTMLElement} */ box) {
  button.popoverTargetElement = box;
  box.addEventListener("toggle", ({ newState }) => newState === "open" && keepBeside(box, button));
}

/** What ends the placement of each popover. @type {WeakMap<HTMLElement, AbortController>} */
const placements = new WeakMap();

/** Keeps a popover, until it closes, below an element or, where it does not fit and more room is there, above it. With a
 * `sentence` around the element, keeps it above the sentence if it fits there, and below it otherwise.
 * @param {HTMLElement} box @param {Element} other @param {Element | null} [sentence] */
export function keepBeside(box, other, sentence = null) {
  const controller = new AbortController(), { signal } = controller;
  const place = () => box.matches(":popover-open") ? placeBeside(box, other, sentence) : controller.abort();
  placements.get(box)?.abort();
  placements.set(box, controller);
  onResize(place, signal, box);
  document.addEventListener("scroll", place, { signal, capture: true, passive: true });
  place();
}

/** @param {HTMLElement} box @param {Element} other @param {Element | null} sentence */
function placeBeside(box, other, sentence) {
  const { left } = other.getBoundingClientRect(), { offsetWidth, offsetHeight, scrollHeight } = box;
  const { top, bottom } = (sentence ?? other).getBoundingClientRect();
  const roomAbove = top - 2 * GAP, roomBelow = innerHeight - bottom - 2 * GAP;
  const goesBelow = sentence ? offsetHeight > roomAbove : roomBelow >= Math.min(scrollHeight, roomAbove);
  box.style.setProperty("--room", `${goesBelow ? roomBelow : roomAbove}px`); // so that the button stays in sight
  box.style.left = `${Math.max(GAP, Math.min(left, innerWidth - offsetWidth - GAP))}px`;
  box.style.top = `${goesBelow ? bottom + GAP : Math.max(GAP, top - GAP - box.offsetHeight)}px`;
}

const HOVER = 250; // milliseconds over a term after which its card opens, and away from both after which it closes

/** @typedef {HTMLElement | SVGElement} TermElement */

/** The card of a term element: that with its index, or that of its stage. */
function cardOf(/** @type {HTMLElement} */ root, /** @type {TermElement} */ term) {
  const cards = viewState(root).view?.terms.cards ?? [];
  if (term.dataset.term) return cards[Number(term.dataset.term)];
  const place = Number(term.closest("[data-stage]")?.getAttribute("data-stage") ?? NaN);
  return cards.find(({ stage }) => stage === place);
}

/** Opens the cards of the terms in the view of `root`, until `signal` aborts.
 * @param {HTMLElement} root an element of the view with an element for the card @param {AbortSignal} signal */
export function listenToTerms(root, signal) {
  if (signal.aborted) return;
  const view = viewRoot(root), box = find(root, ".term-card");
  let timer = 0;
  /** @type {TermElement | null} */
  let shown = null;
  const close = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    if (box.matches(":popover-open")) box.hidePopover();
  };
  const open = (/** @type {TermElement} */ term) => {
    clearTimeout(timer);
    const card = cardOf(root, term);
    if (shown === term || !card) return;
    close();
    shown = term;
    const visits = term.dataset.term !== undefined && card.stage !== null &&
      card.stage !== viewState(root).now?.stage;
    showCard(root, box, term, card, visits ? close : null);
    term.setAttribute("aria-describedby", box.id);
  };
  const soon = (/** @type {() => void} */ act) => {
    clearTimeout(timer);
    timer = setTimeout(act, HOVER);
  };
  const termAt = (/** @type {Event} */ { target }) => {
    const term = target instanceof Element ? target.closest("[data-term], .facts [data-stage]") : null;
    return term instanceof HTMLElement || term instanceof SVGElement ? term : null;
  };
  view.addEventListener("pointerover", (event) => {
    const term = termAt(event), inside = event.target instanceof Node && box.contains(event.target);
    if (event.pointerType === "touch") return;
    if (inside) clearTimeout(timer);
    else if (term) soon(() => open(term));
    else if (shown) soon(close);
  }, { signal });
  view.addEventListener("pointerleave", () => {
    if (shown) soon(close);
  }, { signal });
  view.addEventListener("focusin", (event) => {
    const term = termAt(event);
    if (term?.matches(":focus-visible")) open(term);
    else if (!(event.target instanceof Node && box.contains(event.target))) close();
  }, { signal });
  view.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) close();
  }, { signal });
  view.addEventListener("click", (event) => {
    const term = termAt(event);
    if (term?.dataset.term) open(term);
    else if (term) close();
  }, { signal });
  document.addEventListener("pointerdown", (event) => {
    if (!event.composedPath().includes(box) && !termAt(event)) close();
  }, { signal });
  onEscape(() => shown !== null && close(), signal);
  signal.addEventListener("abort", close);
}
