// The what-ifs: a line with the current one and Undo, and a drawer with a card for each. A click opens one, × or Delete
// removes it. Until the server has answered with new cards, clicks are ignored, since their numbers may change.

import { component } from "../component.js";
import { button, changedWords, element, find, findAll, onPress, write } from "../elements.js";
import { fill } from "../numbers.js";
import { onMessage, send, viewRoot } from "../view.js";

const EDGE = 4; // pixels of margin around a card that is scrolled into sight

/** Requests a what-if, unless the answer to one is outstanding. */
function request(/** @type {WhatIfsState} */ { root }, /** @type {WhatIf} */ whatIf) {
  const list = find(root, "ol");
  if (list.ariaBusy) return;
  list.ariaBusy = "true";
  send(root, "try", whatIf);
}

/** @param {WhatIfsState} state @param {WhatIfCard} card @param {number} index */
function cardItem(state, card, index) {
  const { words, current } = state.data;
  const rate = element("span", "rate", `${words.rate} ${card.per_word}`, { title: words.about });
  const number = index ? [element("b", "number", String(index)), " "] : [];
  const on = card.on ? [element("span", "on", card.on), " "] : [];
  const head = element("span", "head", ...number, element("span", "what", card.description), " ", ...on, rate);
  const changed = changedWords(card.words, (word) => fill(words.gone, { word }));
  const text = element("span", "text", { lang: "fr" }, ...changed);
  const choose = () => index !== state.data.current && request(state, { kind: "what_if", index });
  const open = button("card", choose, head, " ", text, { ariaCurrent: index === current ? "true" : null });
  if (!card.remove) return element("li", "", open);
  const removeIt = () => request(state, { kind: "remove", index }), label = card.remove;
  const remove = element("button", "remove", "×", { title: label, ariaLabel: label, onclick: removeIt });
  open.onkeydown = (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    removeIt();
    event.preventDefault();
  };
  return element("li", "", open, remove);
}

/** Scrolls the list, not the page, until a card is fully visible. */
function scrollToCard(/** @type {HTMLElement} */ list, /** @type {HTMLElement | undefined} */ card) {
  if (!card) return;
  const outer = list.getBoundingClientRect(), inner = card.getBoundingClientRect();
  const below = inner.bottom + EDGE - outer.bottom, above = outer.top - inner.top + EDGE;
  if (below > 0) list.scrollTop += below;
  else if (above > 0) list.scrollTop -= above;
}

/** Writes the line: the current what-if, where the drawer is closed, and the buttons. */
function drawLine(/** @type {WhatIfsState} */ { root, data: { cards, current, folded, words }, open = !folded }) {
  const card = cards[current], undo = find(root, ".undo"), all = find(root, ".all");
  write(find(root, ".title"), words.title ?? "");
  write(find(root, ".now"), open || !card ? "" : current ? `${current} · ${card.description}` : card.description);
  write(undo, words.undo ?? "");
  if (undo.matches(":focus") && !current) all.focus({ preventScroll: true });
  undo.hidden = !current || !words.undo;
  write(all, fill(words.all ?? "", { count: cards.length - 1 }));
  all.setAttribute("aria-expanded", String(open));
  find(root, "ol").hidden = !open;
}

/** Draws the cards, keeps the focus among them, and scrolls the current one into sight. After the last, the focus goes on
 * to the stages. */
function drawCards(/** @type {WhatIfsState} */ state) {
  const { root, data: { cards, current } } = state;
  const hadFocus = root.matches(":focus-within");
  const list = find(root, "ol"), place = [...list.children].findIndex((item) => item.matches(":focus-within"));
  root.hidden = cards.length === 0;
  viewRoot(root).toggleAttribute("data-what-ifs", cards.length > 0);
  drawLine(state);
  list.replaceChildren(...cards.map((card, index) => cardItem(state, card, index)));
  const buttons = findAll(list, ".card");
  if (place >= 0) buttons[Math.min(place, buttons.length - 1)]?.focus({ preventScroll: true });
  if (hadFocus && root.hidden) findAll(viewRoot(root), "[data-stage][tabindex='0']")[0]?.focus({ preventScroll: true });
  requestAnimationFrame(() => scrollToCard(list, buttons[current])); // after layout
}

/** Enables the cards once the server has answered. */
const enableCards = (/** @type {WhatIfsState} */ { root }) => find(root, "ol").ariaBusy = null;

export default component(".what_ifs", {
  start(/** @type {WhatIfsState} */ state) {
    const { root, signal } = state;
    onMessage(root, "answered", () => enableCards(state), signal);
    onPress(find(root, ".undo"), () => request(state, { kind: "undo" }));
    onPress(find(root, ".all"), () => {
      state.open = !(state.open ?? !state.data.folded);
      drawLine(state);
    });
  },
  take(state) {
    enableCards(state);
    drawCards(state);
  },
});
