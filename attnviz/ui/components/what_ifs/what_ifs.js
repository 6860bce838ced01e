// The what-ifs: a line with the current one and Undo, and a drawer with a card for each. A click opens one, × or Delete
// removes it. Until the server has answered with new cards, clicks are ignored, since their numbers may change. Texts are
// set by textContent, so that they are never markup.

import { changedWords } from "../changed_words.js";
import { element, fill, find, findAll, onPress, setLanguage, states, write } from "../shared.js";
import { onMessage, sendWhatIf, viewRoot } from "../view.js";

const EDGE = 4; // pixels of margin around a card that is scrolled into sight

/**
 * @param {HTMLElement} root
 * @param {WhatIfsState} state
 * @param {WhatIf} whatIf
 */
function request(root, state, whatIf) {
  if (state.asked) return;
  state.asked = true;
  find(root, "ol").setAttribute("aria-busy", "true");
  sendWhatIf(root, whatIf);
}

/**
 * @param {HTMLElement} root
 * @param {WhatIfsState} state
 * @param {WhatIfCard} card
 * @param {number} index
 */
function cardItem(root, state, card, index) {
  const { words, current } = state.data;
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "card";
  if (index === current) button.setAttribute("aria-current", "true");
  const head = element("span", "head", "");
  if (index) head.append(element("b", "number", String(index)), " ");
  head.append(element("span", "what", card.description), " ");
  if (card.on) head.append(element("span", "on", card.on), " ");
  const rate = element("span", "rate", `${words.rate} ${card.per_word}`);
  rate.title = words.about;
  head.append(rate);
  const text = element("span", "text", "");
  text.lang = "fr";
  text.append(...changedWords(card.words, (word) => fill(words.gone, { word })));
  button.append(head, " ", text);
  onPress(button, () => {
    if (index !== state.data.current) request(root, state, { kind: "what_if", index });
  });
  item.append(button);
  if (!card.remove) return item;
  const remove = element("button", "remove", "×");
  remove.type = "button";
  remove.title = card.remove;
  remove.setAttribute("aria-label", card.remove);
  remove.onclick = () => request(root, state, { kind: "remove", index });
  button.onkeydown = (event) => {
    if (event.key === "Delete" || event.key === "Backspace") {
      request(root, state, { kind: "remove", index });
      event.preventDefault();
    }
  };
  item.append(remove);
  return item;
}

/**
 * Scrolls the list, not the page, until a card is fully visible.
 * @param {HTMLElement} list
 * @param {HTMLElement | undefined} card
 */
function scrollToCard(list, card) {
  if (!card) return;
  const outer = list.getBoundingClientRect(), inner = card.getBoundingClientRect();
  const below = inner.bottom + EDGE - outer.bottom, above = outer.top - inner.top + EDGE;
  if (below > 0) list.scrollTop += below;
  else if (above > 0) list.scrollTop -= above;
}

/**
 * Writes the line: the current what-if, where the drawer is closed, and the buttons.
 * @param {HTMLElement} root
 * @param {WhatIfsState} state
 */
function drawLine(root, { data: { cards, current, folded, words }, open = !folded }) {
  const card = cards[current], undo = find(root, ".undo"), all = find(root, ".all");
  write(find(root, ".title"), words.title ?? "");
  write(find(root, ".now"), open || !card ? "" : current ? `${current} · ${card.description}` : card.description);
  write(undo, words.undo ?? "");
  undo.hidden = !current || !words.undo;
  write(all, fill(words.all ?? "", { count: cards.length - 1 }));
  all.setAttribute("aria-expanded", String(open));
  find(root, "ol").hidden = !open;
}

/**
 * Draws the cards, keeps the focus among them, and scrolls the current one into sight.
 * @param {HTMLElement} root
 * @param {WhatIfsState} state
 */
function drawCards(root, state) {
  const { cards, current } = state.data;
  const list = find(root, "ol");
  const inside = /** @type {ShadowRoot} */ (root.getRootNode()).activeElement?.closest("li");
  const place = inside ? [...list.children].indexOf(inside) : -1;
  root.hidden = cards.length === 0;
  viewRoot(root).toggleAttribute("data-what-ifs", cards.length > 0);
  drawLine(root, state);
  list.replaceChildren(...cards.map((card, index) => cardItem(root, state, card, index)));
  const buttons = findAll(list, ".card");
  if (place >= 0) buttons[Math.min(place, buttons.length - 1)]?.focus({ preventScroll: true });
  requestAnimationFrame(() => scrollToCard(list, buttons[current])); // after layout
}

/**
 * Enables the cards once the server has answered.
 * @param {HTMLElement} root
 * @param {WhatIfsState} state
 */
function enableCards(root, state) {
  state.asked = false;
  find(root, "ol").removeAttribute("aria-busy");
}

/**
 * @param {HTMLElement} root
 * @param {WhatIfsPayload} data
 * @returns {WhatIfsState}
 */
function start(root, data) {
  const end = onMessage(root, "answered", () => enableCards(root, state));
  /** @type {WhatIfsState} */
  const state = {
    data,
    stop: () => {
      end();
      states.delete(root);
    },
  };
  onPress(find(root, ".undo"), () => request(root, state, { kind: "undo" }));
  onPress(find(root, ".all"), () => {
    state.open = !(state.open ?? !state.data.folded);
    drawLine(root, state);
  });
  states.set(root, state);
  return state;
}

/** @param {Mounted<WhatIfsPayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".what_ifs");
  setLanguage(data.language);
  /** @type {WhatIfsState} */
  const state = states.get(root) ?? start(root, data);
  state.data = data;
  enableCards(root, state);
  const text = JSON.stringify(data);
  if (text !== state.drawn) {
    state.drawn = text;
    drawCards(root, state);
  }
  return state.stop;
}
