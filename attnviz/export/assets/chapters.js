// Script of a page of the app exported as one HTML file: its chapters with figures and tables, its languages, and a
// slider if its figures change over time (`moments`). Texts are set by textContent, so that they are never markup.

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
} from "./drawn.js";

/** @type {ChapterPagePayload} */
const payload = JSON.parse(document.getElementById("payload")?.textContent ?? "");
const slider = /** @type {HTMLInputElement} */ (byId("step"));
const [previous, next] = ["previous", "next"].map((id) => /** @type {HTMLButtonElement} */ (byId(id)));
let { language, opened: moment } = payload;

const EDGE = 14; // pixels at the right for numbers that extend beyond the plot

const words = () => payload.words[language];
const count = () => words().moments.length;

/** @returns {DrawnChapter[]} */
const chapters = () => inVariant(payload.figures, language);

/**
 * The figure of a picture at the current moment; some pictures have one for all moments.
 * @param {Shared} drawn
 * @returns {Figure}
 */
const figureNow = (drawn) => oneOf(drawn, drawn.values[moment] ? moment : 0);

function paint() {
  chapters().forEach(({ pictures }, number) =>
    pictures.forEach((drawn, place) => {
      const figure = figureNow(drawn), { notes } = words().chapters[number].pictures[place];
      byId(`note-${number}-${place}`).textContent = notes[Math.min(moment, notes.length - 1)] ?? "";
      const { layout } = figure, margin = { ...layout.margin, r: (layout.margin?.r ?? 0) + EDGE };
      draw(
        byId(`picture-${number}-${place}`),
        { ...figure, layout: { ...layout, margin } },
        shapesWithFrame(layout, moment),
      );
    })
  );
  if (!count()) return;
  slider.value = String(moment + 1);
  slider.setAttribute("aria-valuetext", words().moments[moment]);
  byId("count").textContent = words().moments[moment];
  previous.disabled = moment <= 0;
  next.disabled = moment >= count() - 1;
}

/** @param {number} chosen */
function goToMoment(chosen) {
  moment = Math.min(Math.max(chosen, 0), count() - 1);
  paint();
}

/**
 * The numbers of a figure in a collapsible table.
 * @param {ChapterTable} table
 * @param {string} title
 */
function collapsedTable({ head, rows, more }, title) {
  const box = element("details", {}), result = element("table", {}), top = result.createTHead().insertRow();
  box.append(element("summary", { textContent: title }));
  for (const name of head ?? []) top.append(element("th", { textContent: name, scope: "col" }));
  const body = result.createTBody();
  for (const row of rows ?? []) {
    const line = body.insertRow();
    for (const cell of row) line.insertCell().textContent = cell;
  }
  const scroll = element("div", { className: "scroll numbers", tabIndex: 0 });
  scroll.append(result);
  box.append(scroll);
  if (more) box.append(element("p", { className: "note", textContent: more }));
  return box;
}

/**
 * @param {ChapterTexts} chapter
 * @param {number} number
 */
function section({ heading, paragraphs, pictures, tables }, number) {
  const result = element("section", {}), { labels } = words();
  const shown = element("div", { className: pictures.length === 3 ? "pictures three" : "pictures" });
  result.append(element("h2", { textContent: heading }));
  result.append(...paragraphs.map((textContent) => element("p", { className: "paragraph", textContent })));
  const { equation } = chapters()[number];
  if (equation) {
    const set = element("div", { className: "scroll" });
    window.katex?.render(equation, set, { displayMode: true, throwOnError: false, output: "mathml" });
    result.append(set);
  }
  pictures.forEach(({ title, table }, place) => {
    const figure = element("figure", {}), scroll = element("div", { className: "scroll" });
    scroll.append(element("div", { id: `picture-${number}-${place}`, className: "chart" }));
    figure.append(element("h3", { textContent: title }));
    figure.append(element("p", { id: `note-${number}-${place}`, className: "note" }), scroll);
    if (table?.head) figure.append(collapsedTable(table, labels.numbers));
    shown.append(figure);
  });
  result.append(shown, ...tables.map((table) => collapsedTable(table, table.title)));
  return result;
}

/**
 * Sets the language, and writes all texts.
 * @param {string} code
 */
function setLanguage(code) {
  language = code;
  document.documentElement.lang = code;
  const { labels, references } = words();
  byId("heading").textContent = words().title;
  byId("source").textContent = words().sentence;
  byId("footer").textContent = words().footer;
  previous.setAttribute("aria-label", labels.previous);
  next.setAttribute("aria-label", labels.next);
  slider.setAttribute("aria-label", labels.step);
  for (const part of [slider, previous, next, byId("count")]) part.hidden = !count();
  slider.max = String(count());
  byId("main").replaceChildren(...words().chapters.map(section));
  if (references.length) {
    const list = element("ul", { lang: "en" });
    list.append(...references.map((textContent) => element("li", { textContent })));
    byId("main").append(element("h2", { textContent: labels.references }), list);
  }
  markPressed("languages", code);
  paint();
}

addLanguageButtons(payload.names, setLanguage);
slider.oninput = () => goToMoment(Number(slider.value) - 1);
previous.onclick = () => goToMoment(moment - 1);
next.onclick = () => goToMoment(moment + 1);
setLanguage(language);
document.addEventListener("keydown", (event) => {
  if (!count() || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.target === slider) return;
  /** @type {Record<string, number | undefined>} */
  const moments = { ArrowLeft: moment - 1, ArrowRight: moment + 1, Home: 0, End: count() - 1 };
  const chosen = moments[event.key];
  if (chosen === undefined) return;
  event.preventDefault();
  goToMoment(chosen);
});
darkTheme.addEventListener("change", () => setLanguage(language));
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width) return;
  width = contentRect.width;
  paint();
}).observe(byId("main"));
