// Form that makes the decoder write another word at the current step: one of the likeliest others, or one that is
// typed.

import { component } from "../component.js";
import { find, onPress, write } from "../elements.js";
import { intervene, viewState } from "../view.js";

/** Requests a translation with the typed word, or else the chosen one. */
function requestWord(/** @type {HTMLElement} */ root) {
  const chosen = find(root, ".foils", HTMLSelectElement).value;
  const text = find(root, ".typed", HTMLInputElement).value.trim();
  if (text) intervene(root, (step) => ({ kind: "typed", text, step }));
  else if (chosen) intervene(root, (step) => ({ kind: "words", pieces: [Number(chosen)], step }));
}

/** Offers the likeliest others of the current step.
 * @param {OtherWordState} state @param {FoilsPayload} payload @param {number} step */
function offer(state, payload, step) {
  const { root } = state, { words, offers } = payload, { instead, foils } = offers[step];
  const isOther = state.step !== undefined && state.step !== step;
  Object.assign(state, { offered: payload, step });
  write(find(root, ".instead"), instead);
  const typed = find(root, ".typed", HTMLInputElement), box = find(root, ".foils");
  if (isOther) typed.value = ""; // what is typed is for its step
  typed.placeholder = words.typed;
  box.replaceChildren(...foils.map(({ piece, name }) => new Option(name, String(piece))));
}

export default component(".other-word", {
  start(/** @type {OtherWordState} */ { root }) {
    onPress(find(root, ".write"), () => requestWord(root));
    const typed = find(root, ".typed", HTMLInputElement), box = find(root, ".foils", HTMLSelectElement);
    typed.onkeydown = (event) => {
      if (event.key === "Enter" && !event.isComposing) requestWord(root);
    };
    // Either a typed or a chosen word.
    typed.oninput = () => box.selectedIndex = typed.value.trim() ? -1 : 0;
    box.onchange = () => typed.value = "";
  },
  show(state, payload) {
    const { root } = state, { step, now } = viewState(root);
    if (step === null || !payload.offers[step]) return;
    if (payload !== state.offered || step !== state.step) offer(state, payload, step);
    // A piece that was clicked in the figure above is preselected.
    const clicked = now && now.word !== null ? String(now.word) : null;
    const box = find(root, ".foils", HTMLSelectElement);
    if (clicked !== null && clicked !== state.clicked && box.querySelector(`[value="${clicked}"]`)) box.value = clicked;
    state.clicked = clicked;
  },
});
