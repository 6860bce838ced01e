// Two text boxes: the word whose logit is attributed, and the word it is compared with (the foil). Each suggests the
// likeliest pieces, and accepts any other text.

import { fetchJson, payloadOf } from "../payloads.js";
import { drawSoon, fill, find, findAll, onMessages, states, write } from "../shared.js";
import { sendChoice, viewState } from "../view.js";

let lists = 0;

/**
 * Writes the current words into the boxes, except into one in which a visitor is typing.
 * @param {HTMLElement} root
 * @param {WordChoiceState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  if (!payload || payload === state.payload) return;
  state.payload = payload;
  find(root, "datalist").replaceChildren(...payload.likeliest.map(({ name }) => new Option("", name)));
  for (const box of findAll(root, "input", HTMLInputElement)) {
    if (box.matches(":focus") && box.value !== (box.dataset.written ?? "")) continue;
    box.value = box.dataset.written = box.dataset.what === "word" ? payload.word : payload.foil;
  }
  write(find(root, ".messages"), payload.feedback.join("\n"));
}

/**
 * Chooses the word typed in a box: a likely piece by its name, or the first piece of any other text; an empty box undoes
 * the choice.
 * @param {HTMLElement} root
 * @param {WordChoiceState} state
 * @param {HTMLInputElement} box
 */
async function chooseTyped(root, state, box) {
  box.dataset.written = box.value; // typing has ended
  const text = box.value.trim(), { step } = viewState(root), word = box.dataset.what === "word";
  /** @type {(piece: number | null, typed: string) => void} */
  const choose = (piece, typed) =>
    sendChoice(root, word ? { word: piece, typedWord: typed } : { foil: piece, typedFoil: typed });
  const own = word ? state.words.own : state.words.other;
  if (!text || text === own) {
    state.payload = undefined; // also removes a typed text without a piece
    choose(null, "");
    drawSoon(root, state, draw);
    return;
  }
  const likely = state.payload?.likeliest.find(({ name }) => name === text);
  if (likely) {
    choose(likely.piece, text);
    return;
  }
  const search = new URLSearchParams({ word: "0", typed_word: text });
  /** @type {NamedPiece | null} */
  const found = await fetchJson(fill(state.named, { selection: String(search) }), true, () => root.isConnected);
  if (!found || viewState(root).step !== step) return;
  if (found.piece === null) write(find(root, ".messages"), found.feedback);
  else choose(found.piece, text);
}

/**
 * @param {HTMLElement} root
 * @returns {WordChoiceState}
 */
function start(root) {
  const state = /** @type {WordChoiceState} */ (/** @type {Partial<WordChoiceState>} */ ({ isText: true }));
  const list = find(root, "datalist");
  lists += 1;
  list.id = `attnviz-likeliest-${lists}`;
  for (const box of findAll(root, "input", HTMLInputElement)) {
    box.setAttribute("list", list.id);
    box.onfocus = () => box.select();
    box.onchange = () => chooseTyped(root, state, box);
  }
  return onMessages(root, state, ["step", "words"], () => drawSoon(root, state, draw));
}

/** @param {Mounted<WordChoicePayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".word-choice");
  /** @type {WordChoiceState} */
  const state = states.get(root) ?? start(root);
  Object.assign(state, { data: { at: data.at }, named: data.named, words: data.words });
  write(find(root, ".one span"), data.words.why);
  write(find(root, ".other span"), data.words.not);
  write(find(root, ".note"), data.words.note);
  find(root, ".other").hidden = !data.both;
  drawSoon(root, state, draw);
  return state.stop;
}
