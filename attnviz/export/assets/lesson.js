// Script of a lesson exported as one HTML file: one question after the other, each answered before its answer is
// unpacked and shown; at the end the score and the answer sheet. Texts are set by textContent, so that they are never
// markup.

import { addLanguageButtons, byId, darkTheme, draw, element, inVariant, markPressed, oneOf, unpack } from "./drawn.js";
import { answerSheet } from "./answer_sheet.js";

/** @type {LessonPayload} */
const payload = JSON.parse(document.getElementById("payload")?.textContent ?? "");
const { items } = payload;
const [previous, next] = ["previous", "next"].map((id) => /** @type {HTMLButtonElement} */ (byId(id)));
const form = /** @type {HTMLFormElement} */ (byId("form"));
let { language } = payload;
/** The current item, from 0; -1 is the introduction, and the number of items is the score. */
let place = -1;
let name = "";
/** What is chosen or typed in the form, and not yet checked. */
let draft = "";

/**
 * What was answered, by item: the number of an option from 0, or a number; null where there is nothing to answer.
 * @type {Map<number, number | null>}
 */
const answers = new Map();
/**
 * The unpacked answer of each answered item.
 * @type {Map<number, LessonAnswer>}
 */
const unpacked = new Map();

const words = () => payload.words[language];
const questions = () => items.flatMap((item, number) => item.kind ? [number] : []);

/**
 * Fills the names in braces of a text.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));

/**
 * Whether an answered item is right.
 * @param {number} number
 */
function isRight(number) {
  const answer = unpacked.get(number), given = answers.get(number);
  if (!answer || given === undefined || given === null) return false;
  // A hair more than the tolerance, so that a difference of exactly the tolerance is right in binary fractions too.
  const near = items[number].tolerance + 1e-9;
  return items[number].kind === "number" ? Math.abs(given - answer.value) <= near : answer.right.includes(given);
}

const hits = () => questions().filter(isRight).length;

/**
 * The text of what was answered.
 * @param {number} number
 */
function givenText(number) {
  const given = answers.get(number);
  if (given === undefined || given === null) return words().unanswered;
  if (items[number].kind !== "number") return items[number].words[language].options[given];
  const text = given.toLocaleString(language, { maximumFractionDigits: 4 });
  return fill(items[number].words[language].unit, { n: text });
}

/**
 * @param {HTMLElement} line
 * @param {LessonWord[]} sentence
 * @param {number} marked
 */
function writeSentence(line, sentence, marked) {
  line.replaceChildren();
  sentence.forEach(({ text, space }, k) => {
    if (space) line.append(" ");
    line.append(k === marked ? element("mark", { textContent: text }) : text);
  });
}

/**
 * An input; the properties that `element` would allow are too many for the type check.
 * @param {Partial<Pick<HTMLInputElement, "type" | "name" | "value" | "inputMode">>} properties
 */
const input = (properties) => Object.assign(document.createElement("input"), properties);

/** @param {LessonItem} item */
function optionRow(item) {
  const box = element("fieldset", {}), given = answers.get(place), answer = unpacked.get(place);
  box.append(element("legend", { textContent: words().options }));
  box.className = item.kind === "choice" ? "options texts" : "options";
  item.words[language].options.forEach((text, k) => {
    const label = element("label", {}), radio = input({ type: "radio", name: "answer", value: String(k) });
    radio.checked = answer ? given === k : draft === String(k);
    radio.disabled = answer !== undefined;
    const written = element("span", { textContent: text });
    if (item.kind !== "choice") written.lang = item.kind === "attends" ? "en" : "fr";
    label.append(radio, written);
    if (answer?.right.includes(k)) {
      label.append(element("b", { className: "hit", textContent: `✓ ${words().right_option}` }));
    } else if (answer && given === k) {
      label.append(element("b", { className: "miss", textContent: `✗ ${words().wrong_option}` }));
    }
    box.append(label);
  });
  return box;
}

/** @param {LessonItem} item */
function numberField(item) {
  const box = element("label", { className: "number" });
  const field = input({ name: "answer", inputMode: "decimal" });
  field.setAttribute("autocomplete", "off");
  field.disabled = answers.has(place);
  field.value = field.disabled ? givenText(place) : draft;
  const { hint } = item.words[language];
  box.append(element("span", { textContent: hint }), field);
  return box;
}

/** Reads the answer in the form; NaN where there is none. */
function answerInForm() {
  const written = draft.trim().replace("\u2212", "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)\s*%?$/.test(written) ? parseFloat(written) : NaN;
}

async function answerItem() {
  const given = answerInForm();
  if (Number.isNaN(given) || answers.has(place)) {
    if (items[place].kind === "number") byId("problem").textContent = words().not_a_number;
    return;
  }
  await reveal(place, given);
  paint();
  next.focus();
}

/**
 * Records what was answered, and unpacks the answer.
 * @param {number} number
 * @param {number | null} given
 */
async function reveal(number, given) {
  const answer = await unpack(items[number].answer);
  if (answers.has(number)) return; // pressed twice
  answers.set(number, given);
  unpacked.set(number, answer);
}

function paintForm() {
  const item = items[place];
  form.replaceChildren();
  form.hidden = !item?.kind;
  if (!item?.kind) return;
  form.append(item.kind === "number" ? numberField(item) : optionRow(item));
  const check = element("button", { className: "onward", textContent: words().check });
  check.hidden = answers.has(place);
  check.disabled = !draft && item.kind !== "number";
  form.oninput = () => {
    draft = String(new FormData(form).get("answer") ?? "");
    check.disabled = false;
  };
  form.append(element("p", { id: "problem", role: "alert" }), check);
}

function paintVerdict() {
  const box = byId("verdict"), answer = unpacked.get(place);
  box.replaceChildren();
  if (place < 0) box.append(element("p", { textContent: words().about }));
  if (!answer) return;
  const { right, note } = answer.words[language];
  if (items[place].kind) {
    const good = isRight(place), text = fill(good ? words().right : words().wrong, { right });
    box.append(element("p", { className: good ? "hit" : "miss", textContent: `${good ? "✓" : "✗"} ${text}` }));
  }
  if (note) box.append(element("p", { textContent: note }));
}

/** Draws the pictures of the answer, then those of the question. */
function paintPictures() {
  const box = byId("pictures"), item = items[place], answer = unpacked.get(place);
  box.replaceChildren();
  byId("main").classList.remove("wide");
  for (const part of [answer, item]) {
    if (!part) continue;
    inVariant(part.figures, language).forEach((/** @type {Shared} */ drawn, /** @type {number} */ k) => {
      const figure = oneOf(drawn, 0);
      const { title, note } = part.words[language].pictures[k];
      const whole = element("figure", {}), scroll = element("div", { className: "scroll" });
      const chart = element("div", { className: "chart" });
      scroll.append(chart);
      whole.append(element("h3", { textContent: title }), scroll);
      if (note) whole.append(element("figcaption", { className: "note", textContent: note }));
      box.append(whole);
      if (figure.layout.meta.narrowest > WIDE) byId("main").classList.add("wide");
      draw(chart, figure);
    });
  }
}

const WIDE = 640; // pixels of width above which the pictures are below the question

function paintScore() {
  const box = byId("verdict"), list = element("ol", { className: "answers" });
  box.replaceChildren();
  box.append(
    element("p", { className: "total", textContent: fill(words().hits, { hits: hits(), n: questions().length }) }),
  );
  for (const number of questions()) {
    const good = isRight(number), line = element("li", {});
    line.append(
      element("b", { className: good ? "hit" : "miss", textContent: good ? "✓ " : "✗ " }),
      items[number].words[language].question,
      element("span", {
        className: "note",
        textContent: ` ${givenText(number)}${good ? "" : ` → ${unpacked.get(number)?.words[language].right ?? ""}`}`,
      }),
    );
    list.append(line);
  }
  const label = element("label", { className: "name", textContent: words().name });
  const field = input({ value: name });
  field.oninput = () => name = field.value;
  label.append(field);
  const sheet = element("button", {
    type: "button",
    className: "onward",
    textContent: words().sheet,
    onclick: saveSheet,
  });
  const again = element("button", { type: "button", textContent: words().again, onclick: startAgain });
  const row = element("div", { className: "row" });
  row.append(label, sheet, again);
  box.append(row, list);
}

let saved = false;
function saveSheet() {
  saved = true;
  const rows = questions().map((number) => [
    name.trim(),
    items[number].words[language].question,
    givenText(number),
    unpacked.get(number)?.words[language].right ?? "",
    isRight(number) ? "1" : "0",
  ]);
  const { column_name, column_question, column_answer, column_right, column_score } = words();
  const head = [column_name, column_question, column_answer, column_right, column_score];
  const link = element("a", { download: `${[words().file, name.trim()].filter(Boolean).join("-")}.csv` });
  link.href = URL.createObjectURL(new Blob([answerSheet([head, ...rows])], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

function startAgain() {
  answers.clear();
  unpacked.clear();
  goTo(-1);
}

/** Whether the way on is open: a question must be answered. */
const isOpen = () => place < 0 || answers.has(place);

function paint() {
  const item = items[place], answer = unpacked.get(place), ended = place === items.length;
  byId("question").textContent = item?.words[language].question ?? (ended ? words().summary : words().duration);
  byId("pair").hidden = !item;
  if (item) {
    writeSentence(byId("source"), item.source, -1);
    const target = answer?.target ?? item.target;
    writeSentence(byId("target"), target, item.word);
    if (!answer && item.kind) byId("target").append(item.target.length ? " …" : "…");
  }
  paintForm();
  if (ended) paintScore();
  else paintVerdict();
  paintPictures();
  byId("count").textContent = item ? fill(words().place, { i: place + 1, n: items.length }) : "";
  const answered = questions().filter((number) => answers.has(number)).length;
  byId("score").textContent = item && answered ? fill(words().score, { hits: hits(), n: answered }) : "";
  const progress = /** @type {HTMLProgressElement} */ (byId("progress"));
  progress.max = items.length;
  progress.value = place + 1;
  previous.hidden = place < 0;
  next.hidden = ended;
  next.disabled = !isOpen();
  next.textContent = place < 0 ? words().start : place === items.length - 1 ? words().finish : words().next;
}

/** @param {number} chosen */
async function goTo(chosen) {
  if (items[chosen] && !items[chosen].kind && !answers.has(chosen)) await reveal(chosen, null);
  place = chosen;
  draft = "";
  paint();
  window.scrollTo({ top: 0 });
  byId("question").focus({ preventScroll: true });
}

/** @param {string} code */
function setLanguage(code) {
  language = code;
  document.documentElement.lang = code;
  document.title = byId("title").textContent = words().title;
  previous.textContent = words().previous;
  byId("progress").setAttribute("aria-label", words().progress);
  byId("source").setAttribute("aria-label", words().english);
  byId("target").setAttribute("aria-label", words().french);
  byId("footer").textContent = words().footer;
  markPressed("languages", code);
  paint();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void answerItem();
});
previous.onclick = () => void goTo(place - 1);
next.onclick = () => isOpen() && void goTo(place + 1);
if (window.parent === window) addLanguageButtons(payload.names, setLanguage);
/** Follows the fragment of the address: in a frame, the page around it chooses the language. */
const followFragment = () => {
  const code = location.hash.slice(1);
  setLanguage(code in payload.names ? code : language);
};
window.addEventListener("hashchange", followFragment);
followFragment();
darkTheme.addEventListener("change", paint);
window.addEventListener("beforeunload", (event) => {
  if (answers.size && !saved) event.preventDefault(); // the answers are in this page only
});
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (width && contentRect.width !== width) paintPictures();
  width = contentRect.width;
}).observe(byId("main"));
