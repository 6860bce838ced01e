// Lecture mode (one picture in large letters, black screen): switched by a key, a button or the address; it persists
// across pages. Its controls are seen while the pointer moves.

import { isForPage, isLecture } from "../keyboard.js";
import { fragmentParameters, setParameters } from "../address.js";
import { OPEN } from "../popover_focus/popover_focus.js";
import { find, findAll, onPress, setLanguage, states, write, writeTexts } from "../shared.js";

const LECTURE = "lecture"; // its address parameter; also the attribute `data-lecture` of the page's root element
const page = document.documentElement;
const IDLE_TIME = 3000; // milliseconds without movement of the pointer, after which the controls disappear

/** Writes into the address whether the mode is on. */
const writeAddress = () => setParameters(LECTURE, { fragment: { [LECTURE]: isLecture() ? "1" : null } });

/** @param {LectureState} state */
function showControls(state) {
  page.removeAttribute("data-idle");
  clearTimeout(state.idle);
  state.idle = setTimeout(() => page.setAttribute("data-idle", ""), IDLE_TIME);
}

/**
 * @param {HTMLElement} root
 * @param {LectureState} state
 * @param {boolean} on
 */
function switchMode(root, state, on) {
  const { words } = state;
  page.toggleAttribute(`data-${LECTURE}`, on);
  showControls(state);
  if (!on) find(root, ".black").hidden = true;
  for (const button of findAll(document, OPEN)) button.click(); // an open popover would cover the page
  write(find(root, ".said"), on ? words.entered : words.left);
  document.dispatchEvent(new CustomEvent("attnviz:letters")); // figures are measured in pixels
  writeAddress();
}

/**
 * Listens to the keys of the mode. While the screen is black, the next key or click only restores the page.
 * @param {HTMLElement} root
 * @param {LectureState} state
 */
function listen(root, state) {
  const black = find(root, ".black"), controller = new AbortController(), { signal } = controller;
  document.addEventListener("keydown", (event) => {
    if (black.hidden || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
    black.hidden = true;
    event.stopImmediatePropagation();
    event.preventDefault();
  }, { signal, capture: true });
  window.addEventListener("keydown", (event) => { // after the page's own listeners: Escape first deselects there
    if (!isForPage(event)) return;
    if (event.key.toLowerCase() === "l") switchMode(root, state, !isLecture());
    else if (event.key === "Escape" && isLecture()) switchMode(root, state, false);
    else if ([".", "b", "B"].includes(event.key) && isLecture()) black.hidden = false;
    else return;
    event.preventDefault();
  }, { signal });
  addEventListener("pointermove", () => showControls(state), { signal });
  return () => controller.abort();
}

/**
 * @param {HTMLElement} root
 * @returns {LectureState}
 */
function start(root) {
  const state = /** @type {LectureState} */ ({ words: {}, idle: 0 });
  onPress(find(root, ".present"), () => switchMode(root, state, true));
  onPress(find(root, ".leave"), () => switchMode(root, state, false));
  onPress(find(root, ".blacken"), () => {
    find(root, ".black").hidden = false;
  });
  onPress(find(root, ".black"), () => {
    find(root, ".black").hidden = true;
  });
  const stopListening = listen(root, state);
  state.stop = () => {
    stopListening();
    clearTimeout(state.idle);
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<{ page: string, language: string, words: Words }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".lecture");
  setLanguage(data.language);
  const first = !states.has(root);
  /** @type {LectureState} */
  const state = states.get(root) ?? start(root);
  state.words = data.words;
  writeTexts(root, data.words);
  if (first && fragmentParameters().get(LECTURE) === "1") {
    switchMode(root, state, true);
  }
  writeAddress();
  return state.stop;
}
