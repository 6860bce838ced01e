// Script of a translation exported as one HTML file: its steps, heatmap, figures, languages and what-if cards. Texts
// are set by textContent, so that they are never markup.

import { cardItem } from "./cards.js";
import {
  addLanguageButtons,
  byId,
  darkTheme,
  draw,
  element,
  inVariant,
  markPressed,
  oneOf,
  shapesWithFrame,
  unpack,
} from "./drawn.js";

/** @type {LecturePayload} */
const payload = JSON.parse(document.getElementById("payload")?.textContent ?? "");
const UNDER_HEATMAP = ["posterior", "logit-attribution"]; // the other figures of a step are beside it
/** The number of the current translation, and its data. */
let currentNumber = payload.current ?? 0;
/** @type {LectureVersion} */
let version = payload;
const slider = /** @type {HTMLInputElement} */ (byId("step"));
const [previous, next] = ["previous", "next"].map((id) => /** @type {HTMLButtonElement} */ (byId(id)));
let step = Math.min(Math.max(payload.step, 1), version.target.length);
let { language, face } = payload;

const count = () => version.target.length;
const words = () => version.words[language];

/** @returns {LectureFigures} */
function figures() {
  const { faces, ...pictures } = inVariant(version.figures, language);
  return { faces, pictures };
}
const faceNames = () => Object.keys(figures().faces.values);

const WIDE = 640; // pixels of width above which a heatmap has a row to itself

/**
 * The drawn heatmap and its width.
 * @type {{ heatmap: Figure, width: number } | null}
 */
let shown = null;
/** @param {Figure} heatmap */
function drawHeatmap(heatmap) {
  const chart = byId("heatmap");
  byId("main").classList.toggle("wide", heatmap.layout.meta.narrowest > WIDE);
  const shapes = shapesWithFrame(heatmap.layout, step - 1);
  if (shown?.heatmap === heatmap && shown.width === chart.clientWidth) {
    Plotly.relayout(chart, { shapes }); // a step moves only the frame
  } else {
    draw(chart, heatmap, shapes);
    shown = { heatmap, width: chart.clientWidth };
  }
}

function paint() {
  const { faces, pictures } = figures();
  const texts = words().steps[step - 1];
  drawHeatmap(oneOf(faces, face));
  byId("footer").textContent = words().footers[face];
  markPressed("faces", face);
  byId("heading").textContent = words().heading.replace("{i}", String(step)).replace("{n}", String(count()));
  byId("sentence").textContent = texts.sentence;
  for (const [name, drawn] of Object.entries(pictures)) {
    byId(`title-${name}`).textContent = texts.pictures[name].title;
    byId(`note-${name}`).textContent = texts.pictures[name].note;
    draw(byId(`picture-${name}`), oneOf(drawn, step - 1));
  }
  for (const word of byId("target").querySelectorAll("button")) {
    const place = Number(word.dataset.step);
    word.classList.toggle("chosen", place === step);
    word.classList.toggle("later", place > step);
    if (place === step) word.setAttribute("aria-current", "step");
    else word.removeAttribute("aria-current");
  }
  slider.value = String(step);
  byId("count").textContent = `${step} / ${count()}`;
  previous.disabled = step <= 1;
  next.disabled = step >= count();
}

/** @param {string} chosen */
function setFace(chosen) {
  face = chosen;
  paint();
}

/** @param {number} chosen */
function goToStep(chosen) {
  step = Math.min(Math.max(chosen, 1), count());
  paint();
}

/**
 * Sets the language, and writes the texts that do not change with the step.
 * @param {string} code
 */
function setLanguage(code) {
  language = code;
  document.documentElement.lang = code;
  const { labels, faces } = words();
  previous.setAttribute("aria-label", labels.previous);
  next.setAttribute("aria-label", labels.next);
  slider.setAttribute("aria-label", labels.step);
  byId("alignment").setAttribute("aria-label", labels.grid);
  byId("faces").setAttribute("aria-label", labels.faces);
  byId("inside").setAttribute("aria-label", labels.step);
  for (const button of byId("faces").querySelectorAll("button")) button.textContent = faces[button.value];
  markPressed("languages", code);
  drawCards();
}

function buildTarget() {
  byId("target").replaceChildren();
  version.target.forEach(({ text, space }, place) => {
    const word = element("button", { type: "button", textContent: text, onclick: () => goToStep(place + 1) });
    word.dataset.step = String(place + 1);
    if (space) byId("target").append(" ");
    byId("target").append(word);
  });
  slider.max = String(count());
}

/**
 * Unpacked versions by their number.
 * @type {Map<number, LectureVersion>}
 */
const versions = new Map([[currentNumber, payload]]);
/** @param {number} number */
async function versionOf(number) {
  const data = versions.get(number) ?? await unpack(payload.others?.[number] ?? "");
  versions.set(number, data);
  return data;
}

let wanted = currentNumber;
/**
 * Shows another translation of the sentence, at the current step or the last it has.
 * @param {number} number
 */
async function show(number) {
  wanted = number;
  const data = await versionOf(number);
  if (wanted !== number) return; // another card was chosen meanwhile
  [currentNumber, version] = [number, data];
  step = Math.min(step, count());
  buildTarget();
  setLanguage(language);
  paint();
}

// Draws the what-if cards, if any; the words that differ from the first translation are marked.
function drawCards() {
  const list = payload.cards?.[language];
  if (!list) return;
  byId("what_ifs").hidden = false;
  byId("what-if").textContent = list.words.title;
  const focused = [...byId("cards").children].findIndex((item) => item.contains(document.activeElement));
  byId("cards").replaceChildren(...list.cards.map((card, number) => cardItem(card, number, list.words)));
  byId("cards").querySelectorAll("button").forEach((button, number) => {
    if (number === currentNumber) button.setAttribute("aria-current", "true");
    button.onclick = () => void show(number);
  });
  if (focused >= 0) byId("cards").children[focused].querySelector("button")?.focus({ preventScroll: true });
}

function build() {
  byId("source").textContent = payload.source;
  buildTarget();
  for (const name of Object.keys(figures().pictures)) {
    const scroll = element("div", { className: "scroll" });
    scroll.append(element("div", { id: `picture-${name}`, className: "chart" }));
    const place = byId(UNDER_HEATMAP.includes(name) ? "below" : "inside");
    place.append(
      element("h2", { id: `title-${name}` }),
      element("p", { id: `note-${name}`, className: "note" }),
      scroll,
    );
  }
  for (const name of faceNames().length > 1 ? faceNames() : []) {
    byId("faces").append(element("button", { type: "button", value: name, onclick: () => setFace(name) }));
  }
  addLanguageButtons(payload.names, (code) => {
    setLanguage(code);
    paint();
  });
  slider.oninput = () => goToStep(Number(slider.value));
  previous.onclick = () => goToStep(step - 1);
  next.onclick = () => goToStep(step + 1);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.target === slider) return;
  if (event.key === "b") {
    const faces = faceNames();
    setFace(faces[(faces.indexOf(face) + 1) % faces.length]);
  }
  /** @type {Record<string, number | undefined>} */
  const steps = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 1, End: count() };
  const chosen = steps[event.key];
  if (chosen === undefined) return;
  event.preventDefault();
  goToStep(chosen);
}

build();
setLanguage(language);
paint();
/** @type {Chart} */ (byId("heatmap")).on("plotly_click", ({ points: [point] }) => {
  const chosen = oneOf(figures().faces, face).layout.meta.steps?.[point.y];
  if (chosen !== undefined && point.data.name !== "coverage") goToStep(chosen + 1); // those bars are of columns
});
document.addEventListener("keydown", onKey);
darkTheme.addEventListener("change", paint);
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width) return; // a change of the height alone needs no redraw
  width = contentRect.width;
  paint();
}).observe(byId("main"));
