// Opens the card that explains a term on hover, focus and tap: of terms in sentences (terms.js), of titles of stages, and
// in the diagram.

import { find, onEscape } from "../shared.js";
import { viewRoot, viewState } from "../view.js";
import { showCard } from "./card.js";

const HOVER = 250; // milliseconds over a term after which its card opens, and away from both after which it closes

/** @typedef {HTMLElement | SVGElement} TermElement */

/** The card of a term element: that with its index, or that of its stage.
 * @param {HTMLElement} root @param {TermElement} term */
function cardOf(root, term) {
  const cards = viewState(root).view?.terms.cards ?? [];
  if (term.dataset.term) return cards[Number(term.dataset.term)];
  const place = Number(term.closest("[data-stage]")?.getAttribute("data-stage") ?? NaN);
  return cards.find(({ stage }) => stage === place);
}

/** Opens the cards of the terms in the view of `root`, until `signal` aborts.
 * @param {HTMLElement} root an element of the view with an element for the card
 * @param {AbortSignal} signal */
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
  /** @param {TermElement} term */
  const open = (term) => {
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
  /** @param {() => void} act */
  const soon = (act) => {
    clearTimeout(timer);
    timer = setTimeout(act, HOVER);
  };
  /** @param {Event} event */
  const termAt = ({ target }) => {
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
