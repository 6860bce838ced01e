// Suspected errors: buttons beside words that are likely wrong; each opens a card of reasons: where the step attended,
// the runner-up, another branch of the search, and what would have to change. The texts were sent with the sentences;
// buttons on the card change the selection of the view or request a what-if.

import { changedWords, element, find, findAll } from "../elements.js";
import { onEscape } from "../keyboard.js";
import { keepBeside } from "../terms/card.js";
import { send } from "../view.js";

/** Draws the buttons, which replace those of another language or level of detail. */
export function drawSuspectedErrors(/** @type {HTMLElement} */ root, /** @type {SuspectedError[]} */ suspects) {
  for (const old of findAll(root, ".suspect")) old.remove();
  for (const word of findAll(root, ".doubted, .unread")) word.classList.remove("doubted", "unread");
  find(root, ".reasons").ontoggle = (event) => listenWhileOpen(root, /** @type {ToggleEvent} */ (event));
  for (const suspect of suspects) {
    const words = findAll(root, `.${suspect.line} .word`).slice(suspect.first, suspect.last + 1);
    const { label, strong } = suspect, popoverTargetElement = find(root, ".reasons");
    const labelled = { title: label, ariaLabel: label, popoverTargetElement };
    const button = element("button", strong ? "suspect" : "suspect unsure", labelled);
    button.onclick = () => fillCard(root, button, suspect, words);
    for (const word of words) word.classList.add(suspect.struck ? "unread" : "doubted");
    words.at(-1)?.after(button);
  }
}

/** Fills the card before the browser opens it or, if it shows this one, closes it.
 * @param {HTMLElement} root @param {HTMLElement} button @param {SuspectedError} suspect @param {HTMLElement[]} words */
function fillCard(root, button, suspect, words) {
  const box = find(root, ".reasons");
  if (box.matches(":popover-open")) {
    if (button.classList.contains("open")) return;
    box.hidePopover();
  }
  const lines = suspect.lines.flatMap((line) => [element("dt", "", line.name), description(root, box, line)]);
  box.setAttribute("aria-label", suspect.label);
  box.replaceChildren(element("p", "title", suspect.title), element("dl", "", ...lines));
  button.classList.add("open");
  if (suspect.kind === "omitted") { for (const word of words) word.classList.add("unread"); }
}

/** @param {HTMLElement} root @param {HTMLElement} box @param {CardLine} line */
function description(root, box, { text, words, button, choice, whatIf }) {
  const node = element("dd", "", text);
  if (words.length) {
    node.lang = "fr";
    node.append(...changedWords(words));
  }
  if (!button) return node;
  const act = element("button", "act", button);
  act.onclick = () => {
    if (choice) send(root, "choose", choice);
    if (choice?.stage) send(root, "visit", choice.stage);
    if (whatIf) send(root, "try", whatIf);
    if (whatIf || choice?.stage) box.hidePopover();
  };
  node.append(" ", act);
  return node;
}

let listening = new AbortController();

/** Keeps an open card beside its button, and closes it by Escape, which has no other effect then. */
function listenWhileOpen(/** @type {HTMLElement} */ root, /** @type {ToggleEvent} */ { newState }) {
  listening.abort();
  if (newState === "closed") {
    for (const node of findAll(root, ".doubted.unread")) node.classList.remove("unread");
    root.querySelector(".suspect.open")?.classList.remove("open");
    return;
  }
  listening = new AbortController();
  const box = find(root, ".reasons");
  onEscape(() => box.hidePopover(), listening.signal);
  keepBeside(box, find(root, ".suspect.open"));
}
