// Findings about the alignment (such as omitted or repeated words), each a link to its heatmap cell, and a sentence
// about the current step, which changes without the server. Texts are set by textContent, so that typed text is never
// markup.

import { payloadOf } from "../payloads.js";
import { fill, find, findAll, onMessages, onPress, states, write } from "../shared.js";
import { sendChoice, viewState } from "../view.js";

/**
 * @param {FindingPayload} finding
 * @param {number} index
 * @param {number} most
 */
function entry({ text, kind, strong, step, source }, index, most) {
  const item = document.createElement("li");
  item.hidden = index >= most;
  const button = document.createElement("button");
  button.type = "button";
  button.className = strong ? `${kind} strong` : kind;
  button.dataset.step = String(step);
  button.textContent = text;
  onPress(button, () => sendChoice(button, { step, source }));
  item.append(button);
  return item;
}

/**
 * @param {HTMLElement} root
 * @param {FindingsPayload} data
 */
function build(root, { findings, atOnce, more }) {
  const list = find(root, "ul");
  list.replaceChildren(...findings.map((finding, index) => entry(finding, index, atOnce)));
  const button = find(root, ".more");
  button.hidden = findings.length <= atOnce;
  button.textContent = fill(more, { n: findings.length - atOnce });
  button.onclick = () => {
    for (const item of findAll(list, "li")) item.hidden = false;
    find(list.children[atOnce], "button").focus();
    button.hidden = true;
  };
}

/**
 * @param {HTMLElement} root
 * @param {FindingsState} state
 */
function show(root, state) {
  const payload = payloadOf(root, state, show);
  if (!payload) return;
  const drawn = JSON.stringify([payload.summary, payload.findings]);
  if (drawn !== state.drawn) {
    state.drawn = drawn;
    write(find(root, ".summary"), payload.summary);
    build(root, payload);
  }
  const { step } = viewState(root);
  write(find(root, ".step"), payload.steps[step ?? -1] ?? "");
  for (const button of findAll(root, "li button")) {
    const current = Number(button.dataset.step) === step;
    if (current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    button.tabIndex = current && button.matches(".example") ? -1 : 0; // it leads to where one is
  }
}

/**
 * @param {HTMLElement} root
 * @returns {FindingsState}
 */
function start(root) {
  const state = /** @type {FindingsState} */ ({});
  return onMessages(root, state, ["step", "options"], () => show(root, state));
}

/** @param {Mounted<FindingsPayload | PayloadAddress>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".words");
  /** @type {FindingsState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  show(root, state);
  return state.stop;
}
