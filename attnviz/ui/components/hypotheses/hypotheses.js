// The finished hypotheses of a beam search as buttons: a click makes one the translation, pointing at one marks it in the
// search tree. Texts are set by textContent, so that they are never markup.

import { payloadOf } from "../payloads.js";
import { drawSoon, find, onMessages, onPress, states, write } from "../shared.js";
import { send, sendWhatIf } from "../view.js";

/**
 * @param {string} kind
 * @param {string} text
 */
function spanOf(kind, text) {
  const node = document.createElement("span");
  node.className = kind;
  node.textContent = text;
  return node;
}

/**
 * @param {HypothesisPayload} hypothesis
 * @param {number} replaced
 */
function entry({ text, score, note, shown, pieces }, replaced) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.append(spanOf("text", text), " ", spanOf("score", score));
  if (note) button.append(" ", spanOf("note", note));
  if (shown) button.setAttribute("aria-current", "true");
  onPress(button, () => {
    if (!shown) sendWhatIf(button, { intervention: { kind: "words", pieces, step: 0, replaced }, held: true });
  });
  for (const here of ["pointerenter", "focus"]) button.addEventListener(here, () => send(button, "hint", pieces));
  for (const gone of ["pointerleave", "blur"]) button.addEventListener(gone, () => send(button, "hint", null));
  item.append(button);
  return item;
}

/**
 * @param {HTMLElement} root
 * @param {HypothesesState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  if (!payload || payload === state.payload) return;
  state.payload = payload;
  write(find(root, ".unit"), payload.unit);
  find(root, "ol").replaceChildren(...payload.entries.map((one) => entry(one, payload.replaced)));
}

/**
 * @param {HTMLElement} root
 * @returns {HypothesesState}
 */
function start(root) {
  const state = /** @type {HypothesesState} */ ({ isText: true });
  return onMessages(root, state, ["step"], () => drawSoon(root, state, draw));
}

/** @param {Mounted<PayloadAddress>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".hypotheses");
  /** @type {HypothesesState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  drawSoon(root, state, draw);
  return state.stop;
}
