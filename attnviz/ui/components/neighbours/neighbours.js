// List of the corpus vectors nearest to one of the current step, each a link to its sentence. Texts are set by
// textContent, so that they are never markup.

import { payloadOf } from "../payloads.js";
import { drawSoon, find, onMessages, states, write } from "../shared.js";

/**
 * @param {string} kind of element
 * @param {string} name
 * @param {string} text
 * @param {string} [spoken]
 */
function element(kind, name, text, spoken) {
  const node = document.createElement(kind);
  node.className = name;
  node.textContent = text;
  if (spoken) node.lang = spoken;
  return node;
}

/**
 * @param {NeighbourPayload} neighbour
 * @param {[string, string]} spoken
 */
function entry({ near, before, marked, after, other, to }, [own, others]) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = new URL(to, document.baseURI).href;
  link.target = "_self";
  const sentence = element("span", "sentence", "", own);
  sentence.append(before, element("mark", "", marked), after);
  link.append(element("span", "near", near), sentence, element("span", "other", other, others));
  item.append(link);
  return item;
}

/**
 * @param {HTMLElement} root
 * @param {NeighboursState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  if (!payload || payload === state.payload) return;
  state.payload = payload;
  for (const kind of ["decoder", "context", "encoder"]) root.classList.toggle(kind, kind === payload.kind);
  write(find(root, ".heading"), payload.heading);
  find(root, "ol").replaceChildren(...payload.entries.map((one) => entry(one, payload.spoken)));
}

/**
 * @param {HTMLElement} root
 * @returns {NeighboursState}
 */
function start(root) {
  const state = /** @type {NeighboursState} */ ({ isText: true });
  return onMessages(root, state, ["step"], () => drawSoon(root, state, draw));
}

/** @param {Mounted<PayloadAddress & { waiting: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".neighbours");
  /** @type {NeighboursState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  if (!state.payload) write(find(root, ".heading"), data.waiting);
  drawSoon(root, state, draw);
  return state.stop;
}
