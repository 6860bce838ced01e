// Two text boxes: the word whose logit is attributed, and the word it is compared with (the foil). Each suggests the
// likeliest pieces, and accepts any other text.

import { component } from "../component.js";
import { fetchJson } from "../payloads.js";
import { find, findAll, write } from "../elements.js";
import { fill } from "../numbers.js";
import { send, viewState } from "../view.js";

/** Chooses the word typed in a box: a likely piece by its name, or the first piece of any other text; an empty box
 * undoes the choice. */
async function chooseTyped(/** @type {WordChoiceState} */ state, /** @type {HTMLInputElement} */ box) {
  const { root } = state;
  box.dataset.written = box.value; // typing has ended
  const text = box.value.trim(), { step } = viewState(root), word = box.dataset.what === "word";
  const choose = (/** @type {number | null} */ piece, /** @type {string} */ typed) =>
    send(root, "choose", word ? { word: piece, typedWord: typed } : { foil: piece, typedFoil: typed });
  const { words, named } = state.data, own = word ? words.own : words.other;
  if (!text || text === own) {
    state.payload = undefined; // also removes a typed text without a piece
    choose(null, "");
    state.redraw();
    return;
  }
  const likely = state.payload?.likeliest.find(({ name }) => name === text);
  if (likely) return choose(likely.piece, text);
  const search = new URLSearchParams({ word: "0", typed_word: text });
  /** @type {NamedPiece | null} */
  const found = await fetchJson(fill(named, { selection: String(search) }), true, () => root.isConnected);
  if (!found || viewState(root).step !== step) return;
  if (found.piece === null) write(find(root, ".messages"), found.feedback);
  else choose(found.piece, text);
}

export default component(".word-choice", {
  start(/** @type {WordChoiceState} */ state) {
    const { root } = state, list = find(root, "datalist");
    list.id = `${viewState(root).name}-likeliest`;
    for (const box of findAll(root, "input", HTMLInputElement)) {
      box.setAttribute("list", list.id);
      box.onfocus = () => box.select();
      box.onchange = () => chooseTyped(state, box);
    }
  },
  take({ root }, { both }) {
    find(root, ".other").hidden = !both;
  },
  /** Writes the current words into the boxes, except into one in which a visitor is typing. */
  read({ root }, payload) {
    find(root, "datalist").replaceChildren(...payload.likeliest.map(({ name }) => new Option("", name)));
    for (const box of findAll(root, "input", HTMLInputElement)) {
      if (box.matches(":focus") && box.value !== (box.dataset.written ?? "")) continue;
      box.value = box.dataset.written = box.dataset.what === "word" ? payload.word : payload.foil;
    }
    write(find(root, ".messages"), payload.feedback.join("\n"));
  },
});
