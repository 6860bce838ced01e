// Row of a step's attention weights in the chosen form of attention (page *To the transformer*), with energies, heads,
// equation, French words that choose the step, and the button that opens the exhibit of the form. Cells fade from one
// form to the next. The payload has all forms, so that choosing another one needs no request.

import { component } from "../component.js";
import {
  button,
  element,
  find,
  findAll,
  makeScrollable,
  onPageMessage,
  scrollSmoothly,
  write,
  writeTexts,
} from "../elements.js";
import { writeEquation } from "../equation/equation.js";
import { isForPage, makeOneTabStop, stepForKey } from "../keyboard.js";
import { fill, number, percent, unpackRows } from "../numbers.js";
import { sendRequest } from "../outbox/outbox.js";
import { onViewKey, send, viewState } from "../view.js";

/** A row of the table with a heading and an empty cell for each English piece.
 * @param {string} kind @param {string} heading @param {number} count */
function tableRow(kind, heading, count) {
  const cells = Array.from({ length: count }, () => element("td", ""));
  return element("tr", kind, element("th", "", heading, { scope: "row" }), ...cells);
}

const BRIGHT = 0.46; // above this weight, black text has more contrast than white text

/** Shades the cells of a row by weights, from black, 0, to white, 1, as the heatmap; writes the weights in them. */
function shade(/** @type {HTMLElement} */ row, /** @type {Float32Array} */ weights) {
  const strongest = weights.indexOf(Math.max(...weights));
  findAll(row, "td").forEach((cell, k) => {
    const grey = Math.round(255 * weights[k]);
    cell.style.backgroundColor = `rgb(${grey} ${grey} ${grey})`;
    cell.style.color = weights[k] > BRIGHT ? "black" : "white";
    write(cell, percent(weights[k]));
    cell.classList.toggle("strongest", k === strongest);
  });
}

/** @param {HTMLElement} root @param {RowForm} form @param {number} step @param {RowPayload} payload */
function paintTable(root, { weights, energies, heads }, step, { sources, words }) {
  const atStep = (/** @type {string} */ numbers) => unpackRows(numbers, sources.length)[step];
  const energyRow = find(root, ".energies"), ofStep = energies && atStep(energies);
  energyRow.hidden = !energies;
  findAll(energyRow, "td").forEach((cell, j) => write(cell, ofStep ? number(ofStep[j], 1) : ""));
  findAll(root, ".head").forEach((row, k) => {
    row.hidden = !heads[k];
    if (heads[k]) shade(row, atStep(heads[k]));
  });
  const row = find(root, ".weights");
  write(find(row, "th"), heads.length ? words.mean : words.weight);
  shade(row, atStep(weights));
  const box = find(root, ".scroll"), cell = find(row, ".strongest");
  makeScrollable(box);
  if (box.hasAttribute("data-scrolls")) box.scrollLeft = cell.offsetLeft - (box.clientWidth - cell.offsetWidth) / 2;
}

/** Opens the exhibit behind the chosen form, or closes it. */
function toggleExhibit(/** @type {RowState} */ { root, payload, opened }) {
  const { exhibit } = payload?.forms[viewState(root).options.form] ?? {};
  if (!exhibit) return;
  const request = sendRequest("exhibit", opened === exhibit ? "" : exhibit), waiting = new AbortController();
  onPageMessage("handled", ({ detail: handled }) => {
    if (handled < request) return;
    waiting.abort();
    scrollSmoothly(document.querySelector(`.st-key-exhibit_${exhibit}`));
  }, waiting.signal);
}

export default component(".attention-row", {
  begin: () => ({ payload: null, opened: "", drawn: "" }),
  start(/** @type {RowState} */ state) {
    const { root, signal } = state;
    onViewKey(root, (event) => {
      const { step } = viewState(root), { payload } = state;
      if (!payload || step === null || !isForPage(event)) return;
      const next = stepForKey(event, step, payload.targets.length - 1);
      if (next === null) return;
      event.preventDefault();
      send(root, "choose", { step: next });
    }, signal);
    find(root, ".exhibit").onclick = () => toggleExhibit(state);
  },
  take(state, /** @type {PayloadAddress & { opened: string }} */ { opened }) {
    Object.assign(state, { opened });
  },
  /** Builds the French sentence and the table for a new payload. */
  read(state, payload) {
    const { root } = state, { sources, targets, forms, words } = payload, count = sources.length;
    state.drawn = "";
    find(root, ".words").replaceChildren(...targets.flatMap(({ text, space, name }, step) => {
      const made = button("", () => send(root, "choose", { step }), text);
      if (!text.trim()) made.ariaLabel = name;
      return space ? [" ", made] : [made];
    }));
    const corner = element("th", "", words.english, { scope: "row" });
    const names = sources.map((source) => element("th", "", source, { scope: "col", lang: "en" }));
    find(root, "thead").replaceChildren(element("tr", "", corner, ...names));
    const heads = Math.max(...Object.values(forms).map((form) => form.heads.length));
    const ofHeads = Array.from({ length: heads }, (_, k) => tableRow("head", fill(words.head, { n: k + 1 }), count));
    const rows = [tableRow("energies", words.energy, count), ...ofHeads, tableRow("weights", words.weight, count)];
    find(root, "tbody").replaceChildren(...rows);
  },
  show(state, payload) {
    const { root, opened } = state, { step, options } = viewState(root);
    const form = payload.forms[options.form], target = payload.targets[step ?? -1];
    if (!form || !target || step === null) return;
    const { words } = payload, isOpen = opened === form.exhibit;
    write(find(root, ".exhibit"), isOpen ? words.close : fill(words.open, { title: form.title }));
    find(root, ".exhibit").setAttribute("aria-expanded", String(isOpen));
    const drawn = `${options.form} ${step}`;
    if (drawn === state.drawn) return;
    state.drawn = drawn;
    paintTable(root, form, step, payload);
    const piece = form.askers?.[step] ?? target.name;
    write(find(root, "caption span"), fill(words.caption, { piece, model: form.model }));
    const { modelChange, text: change, sentences: { [step]: numbers } } = form;
    writeTexts(root, { modelChange, change, numbers });
    const buttons = findAll(root, ".words button");
    buttons.forEach((made, k) => made.ariaCurrent = k === step ? "step" : null);
    makeOneTabStop(buttons, buttons[step]);
    writeEquation(state, form.latex, payload.katex);
  },
});
