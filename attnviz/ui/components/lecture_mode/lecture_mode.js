// Lecture mode (one picture in large letters, black screen): switched by a key, a button or the address; it persists
// across pages. Its controls are seen while the pointer moves.

import { component } from "../component.js";
import { isForPage, isLecture } from "../keyboard.js";
import { fragmentParameters, setParameters } from "../address.js";
import { OPEN } from "../popover_focus/popover_focus.js";
import { find, findAll, onPress, write } from "../elements.js";
import { drawnRoots, send } from "../view.js";

const LECTURE = "lecture"; // its address parameter; also the attribute `data-lecture` of the page's root element
const page = document.documentElement;
const IDLE_TIME = 3000; // milliseconds without movement of the pointer, after which the controls disappear

/** Writes into the address whether the mode is on. */
const writeAddress = () => setParameters(LECTURE, { fragment: { [LECTURE]: isLecture() ? "1" : null } });

function showControls(/** @type {LectureState} */ state) {
  page.removeAttribute("data-idle");
  clearTimeout(state.idle);
  state.idle = setTimeout(() => page.setAttribute("data-idle", ""), IDLE_TIME);
}

function switchMode(/** @type {LectureState} */ state, /** @type {boolean} */ on) {
  const { root, data: { words } } = state;
  page.toggleAttribute(`data-${LECTURE}`, on);
  showControls(state);
  if (!on) find(root, ".black").hidden = true;
  for (const button of findAll(document, OPEN)) button.click(); // an open popover would cover the page
  write(find(root, ".said"), on ? words.entered : words.left);
  for (const view of drawnRoots()) send(view, "shown"); // figures are measured in pixels
  writeAddress();
}

export default component(".lecture", {
  begin: () => ({ idle: 0 }),
  /** Listens to the buttons and keys of the mode. While the screen is black, the next key or click only restores the
   * page. */
  start(/** @type {LectureState} */ state) {
    const { root, signal } = state, black = find(root, ".black");
    const blacken = (/** @type {boolean} */ isBlack) => black.hidden = !isBlack;
    onPress(find(root, ".present"), () => switchMode(state, true));
    onPress(find(root, ".leave"), () => switchMode(state, false));
    onPress(find(root, ".blacken"), () => blacken(true));
    onPress(black, () => blacken(false));
    document.addEventListener("keydown", (event) => {
      if (black.hidden || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
      blacken(false);
      event.stopImmediatePropagation();
      event.preventDefault();
    }, { signal, capture: true });
    window.addEventListener("keydown", (event) => { // after the page's own listeners: Escape first deselects there
      if (!isForPage(event)) return;
      if (event.key.toLowerCase() === "l") switchMode(state, !isLecture());
      else if (event.key === "Escape" && isLecture()) switchMode(state, false);
      else if ([".", "b", "B"].includes(event.key) && isLecture()) blacken(true);
      else return;
      event.preventDefault();
    }, { signal });
    addEventListener("pointermove", () => showControls(state), { signal });
    signal.addEventListener("abort", () => clearTimeout(state.idle));
    if (fragmentParameters().get(LECTURE) === "1") switchMode(state, true);
  },
  take: writeAddress,
});
