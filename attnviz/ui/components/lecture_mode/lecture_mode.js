// Lecture mode: entered and left by a key, a button, or the address, it stays from page to page until it is left.

import { isForPage } from "../keyboard.js";
import { give } from "../address.js";
import { find, findAll, letGo, speak, states, wordIn, write } from "../shared.js";

const LECTURE = "lecture"; // its address parameter; the page's root element bears it as `data-lecture`
const OPEN = "[data-testid='stPopoverButton'][aria-expanded='true']";
const page = document.documentElement;

const isOn = () => page.hasAttribute(`data-${LECTURE}`);

/** Has the address say whether the mode is on. */
const note = () => give(LECTURE, { [LECTURE]: isOn() ? "1" : null });

/**
 * @param {HTMLElement} root
 * @param {LectureState} state
 * @param {boolean} on
 */
function turn(root, { words }, on) {
  page.toggleAttribute(`data-${LECTURE}`, on);
  if (!on) find(root, ".black").hidden = true;
  for (const button of findAll(document, OPEN)) button.click(); // its box stands before the page
  write(find(root, ".said"), on ? words.entered : words.left);
  document.dispatchEvent(new CustomEvent("attnviz:letters")); // pictures are measured in pixels
  note();
}

/**
 * The keys of the mode; whatever has the screen black, the next key or click brings the page back and does nothing else.
 * @param {HTMLElement} root
 * @param {LectureState} state
 */
function listen(root, state) {
  const black = find(root, ".black"), until = new AbortController(), { signal } = until;
  document.addEventListener("keydown", (event) => {
    if (black.hidden || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
    black.hidden = true;
    event.stopImmediatePropagation();
    event.preventDefault();
  }, { signal, capture: true });
  window.addEventListener("keydown", (event) => { // after what the page itself does with a key: Escape lets go there first
    if (!isForPage(event)) return;
    if (event.key.toLowerCase() === "l") turn(root, state, !isOn());
    else if (event.key === "Escape" && isOn()) turn(root, state, false);
    else if (event.key === "." && isOn()) black.hidden = false;
    else return;
    event.preventDefault();
  }, { signal });
  document.addEventListener(`attnviz:${LECTURE}`, () => turn(root, state, true), { signal });
  return () => until.abort();
}

/**
 * @param {HTMLElement} root
 * @returns {LectureState}
 */
function start(root) {
  const state = /** @type {LectureState} */ ({ words: {} });
  /** @type {(selector: string, act: () => void) => void} */
  const press = (selector, act) => {
    find(root, selector).onclick = (event) => {
      act();
      letGo(event);
    };
  };
  press(".leave", () => turn(root, state, false));
  press(".blacken", () => {
    find(root, ".black").hidden = false;
  });
  press(".black", () => {
    find(root, ".black").hidden = true;
  });
  const deafen = listen(root, state);
  state.stop = () => {
    deafen();
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<{ page: string, language: string, words: Words }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".lecture");
  speak(data.language);
  const first = !states.has(root);
  /** @type {LectureState} */
  const state = states.get(root) ?? start(root);
  state.words = data.words;
  wordIn(root, data.words);
  if (first && new URL(location.href).searchParams.get(LECTURE) === "1") turn(root, state, true);
  note();
  return state.stop;
}
