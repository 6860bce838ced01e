// A lesson: one question after the other, each answered before its answer is shown; at the end the score and the answer
// sheet. The browser stores the answers, so that a reload keeps them. The pictures of an item are blocks beside it.

import { component } from "../component.js";
import { saveBlob } from "../saved_file.js";
import { element, find, findAll, write } from "../elements.js";
import { fill, number } from "../numbers.js";
import { keep, kept } from "../storage.js";
import { viewRoot, viewState } from "../view.js";

/** @param {LessonState} state */
const questions = ({ data: { items } }) => items.flatMap(({ kind }, place) => kind ? [place] : []);

/** Whether an answered item is right. */
function isRight(/** @type {LessonState} */ { data: { items }, answers }, /** @type {number} */ place) {
  const { kind, tolerance, answer } = items[place], given = answers.get(place);
  if (given === undefined || given === null) return false;
  // A hair more than the tolerance, so that a difference of exactly the tolerance is right in binary fractions too.
  return kind === "number" ? Math.abs(given - answer.value) <= tolerance + 1e-9 : answer.right.includes(given);
}

/** The text of what was answered. @param {LessonState} state @param {number} place */
function givenText({ data: { items, words, language }, answers }, place) {
  const given = answers.get(place), { kind, options, unit } = items[place];
  if (given === undefined || given === null) return words.unanswered;
  if (kind !== "number") return options[given];
  return fill(unit, { n: given.toLocaleString(language, { maximumFractionDigits: 4 }) });
}

/** Where the browser stores the answers of a lesson. */
const storageName = (/** @type {LessonState} */ { data }) => `attnviz-lesson-${data.identity}`;

/** Stores the answers, once there are some. */
function store(/** @type {LessonState} */ state) {
  const { place, name, answers } = state, begun = place >= 0 || answers.size > 0;
  keep("localStorage", storageName(state), begun ? { place, name, answers: [...answers] } : null);
}

/** Takes the stored answers, if there are valid ones. */
function restore(/** @type {LessonState} */ state) {
  const { place, name, answers } = kept("localStorage", storageName(state)) ?? {}, { items } = state.data;
  if (!Array.isArray(answers) || !answers.every(([key]) => key in items)) return;
  Object.assign(state, { answers: new Map(answers), name: String(name) });
  state.place = Math.min(Math.max(Number(place), -1), items.length);
}

const sentenceParts = (/** @type {LessonWord[]} */ sentence, /** @type {number} */ marked) =>
  sentence.flatMap(({ text, space }, k) => [space ? " " : "", k === marked ? element("mark", "", text) : text]);

function optionRow(/** @type {LessonState} */ { data: { items, words }, place, answers, draft }) {
  const { kind, options, answer } = items[place], given = answers.get(place), isAnswered = answers.has(place);
  const labels = options.map((text, k) => {
    const checked = isAnswered ? given === k : draft === String(k);
    const radio = { type: "radio", name: "answer", value: String(k), checked, disabled: isAnswered };
    const lang = kind === "choice" ? "" : kind === "attends" ? "en" : "fr"; // of a choice, that of the page
    const option = element("span", "", text, lang ? { lang } : undefined);
    const label = element("label", "", element("input", "", radio), option);
    if (isAnswered && answer.right.includes(k)) label.append(element("b", "hit", `✓ ${words.right_option}`));
    else if (isAnswered && given === k) label.append(element("b", "miss", `✗ ${words.wrong_option}`));
    return label;
  });
  return element("fieldset", kind === "choice" ? "texts" : "", element("legend", "", words.options), ...labels);
}

function numberField(/** @type {LessonState} */ state) {
  const { data, place, answers, draft } = state, isAnswered = answers.has(place);
  const value = isAnswered ? givenText(state, place) : draft;
  /** @type {ElementProperties<HTMLInputElement>} */
  const field = { name: "answer", value, inputMode: "decimal", autocomplete: "off", disabled: isAnswered };
  return element("label", "number", element("span", "", data.items[place].hint), element("input", "", field));
}

/** A number as it was typed: with a point or comma, and perhaps a per cent sign; NaN for any other text. */
function typedNumber(/** @type {string} */ text) {
  const written = text.trim().replace("\u2212", "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)\s*%?$/.test(written) ? parseFloat(written) : NaN;
}

/** Takes the answer in the form. */
function answerItem(/** @type {LessonState} */ state) {
  const { root } = state, given = typedNumber(state.draft), { data, place, answers } = state;
  if (answers.has(place)) return;
  if (Number.isNaN(given)) {
    if (data.items[place].kind === "number") write(find(root, ".problem"), data.words.not_a_number);
    return;
  }
  answers.set(place, given);
  paint(state);
  find(root, ".next").focus();
}

function paintForm(/** @type {LessonState} */ state) {
  const { root } = state;
  const form = find(root, "form", HTMLFormElement), { data, place, answers, draft } = state, item = data.items[place];
  form.hidden = !item?.kind;
  if (!item?.kind) return;
  const check = element("button", "onward", data.words.check, {
    type: "submit",
    hidden: answers.has(place),
    disabled: !draft && item.kind !== "number",
  });
  form.oninput = () => {
    state.draft = String(new FormData(form).get("answer") ?? "");
    check.disabled = false;
  };
  const problem = element("p", "problem", { role: "alert" });
  form.replaceChildren(item.kind === "number" ? numberField(state) : optionRow(state), problem, check);
}

function paintVerdict(/** @type {LessonState} */ state) {
  const { root } = state, box = find(root, ".verdict"), { data: { items, words }, place, answers } = state;
  box.replaceChildren();
  if (place < 0) box.append(element("p", "", words.about), element("p", "note", words.how));
  if (!answers.has(place)) return;
  const { kind, answer } = items[place], isHit = isRight(state, place);
  if (kind) {
    const text = fill(isHit ? words.right : words.wrong, { right: answer.text });
    box.append(element("p", isHit ? "hit" : "miss", `${isHit ? "✓" : "✗"} ${text}`));
  }
  if (answer.note) box.append(element("p", "", answer.note));
}

/** Shows the pictures of the current question, and those of its answer once it is there. */
function showPictures(/** @type {LessonState} */ { root, data: { items }, place, answers }) {
  const room = viewRoot(root);
  viewState(root).step ??= 0; // the charts of a lesson are each of one step
  room.dataset.pictures = items[place]?.wide ? "below" : "beside";
  for (const box of findAll(room, ".st-key-lesson_pictures > .hidden-block")) {
    const isShown = box.classList.contains(`st-key-lesson_${place}_show`) ||
      (answers.has(place) && box.classList.contains(`st-key-lesson_${place}_reveal`));
    if (box.hidden !== isShown) continue;
    box.hidden = !isShown;
    box.dispatchEvent(new Event("toggle"));
  }
}

function paintScore(/** @type {LessonState} */ state) {
  const { root, data: { items, words } } = state;
  const asked = questions(state), hits = asked.filter((place) => isRight(state, place)).length;
  const lines = asked.map((place) => {
    const isHit = isRight(state, place), right = isHit ? "" : ` → ${items[place].answer.text}`;
    const given = element("span", "note", ` ${givenText(state, place)}${right}`);
    return element("li", "", element("b", isHit ? "hit" : "miss", isHit ? "✓ " : "✗ "), items[place].question, given);
  });
  const field = element("input", "", { value: state.name });
  field.oninput = () => {
    state.name = field.value;
    store(state);
  };
  const sheet = element("button", "onward", words.sheet, { onclick: () => saveSheet(state) });
  find(root, ".verdict").replaceChildren(
    element("p", "total", fill(words.hits, { hits: number(hits, 0), n: asked.length })),
    element("div", "row", element("label", "name", words.name, field), sheet),
    element("ol", "answers", ...lines),
  );
}

/** A quoted cell of a CSV (RFC 4180). Before a text that a spreadsheet would compute as a formula, it has an
 * apostrophe. */
function cell(/** @type {string} */ text) {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+\-]?[\d.,\s]+%?$/.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/** Saves the answer sheet as CSV that spreadsheets open: with a byte-order mark. */
function saveSheet(/** @type {LessonState} */ state) {
  const { data: { items, words } } = state, name = state.name.trim();
  const rows = questions(state).map((place) => {
    const { question, answer } = items[place];
    return [name, question, givenText(state, place), answer.text, isRight(state, place) ? "1" : "0"];
  });
  const head = ["name", "question", "answer", "right", "score"].map((column) => words[`column_${column}`]);
  const lines = [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`);
  const sheet = new Blob(["\ufeff", ...lines], { type: "text/csv" });
  saveBlob(sheet, `${[words.file, name].filter(Boolean).join("-")}.csv`);
}

function paint(/** @type {LessonState} */ state) {
  const { root } = state;
  const { data: { items, words }, place, answers } = state, item = items[place], isEnd = place === items.length;
  write(find(root, ".question"), item?.question ?? (isEnd ? words.summary : words.duration));
  find(root, ".pair").hidden = !item;
  if (item) {
    const isAnswered = answers.has(place), rest = isAnswered ? "" : item.target.length ? " …" : "…";
    const target = sentenceParts(isAnswered ? item.answer.target : item.target, item.word);
    find(root, ".source").replaceChildren(...sentenceParts(item.source, -1));
    find(root, ".target").replaceChildren(...target, rest);
  }
  paintForm(state);
  if (isEnd) paintScore(state);
  else paintVerdict(state);
  showPictures(state);
  const answered = questions(state).filter((one) => answers.has(one));
  const hits = answered.filter((one) => isRight(state, one)).length;
  write(find(root, ".count"), item ? fill(words.place, { i: place + 1, n: items.length }) : "");
  write(find(root, ".score"), item && answered.length ? fill(words.score, { hits, n: answered.length }) : "");
  Object.assign(find(root, "progress"), { max: items.length, value: place + 1 });
  find(root, ".again").hidden = place < 0;
  find(root, ".previous").hidden = place < 0;
  const next = find(root, ".next", HTMLButtonElement);
  next.hidden = isEnd;
  next.disabled = place >= 0 && !answers.has(place);
  write(next, place < 0 ? words.start : place === items.length - 1 ? words.finish : words.next);
  store(state);
}

function goTo(/** @type {LessonState} */ state, /** @type {number} */ place) {
  const { root } = state, item = state.data.items[place];
  if (item && !item.kind && !state.answers.has(place)) state.answers.set(place, null);
  Object.assign(state, { place, draft: "" });
  paint(state);
  if (root.getBoundingClientRect().top < 0) root.scrollIntoView();
  find(root, ".question").focus({ preventScroll: true });
}

export default component(".lesson", {
  start(/** @type {LessonState} */ state) {
    const { root } = state;
    find(root, "form").onsubmit = (event) => {
      event.preventDefault();
      answerItem(state);
    };
    find(root, ".previous").onclick = () => goTo(state, state.place - 1);
    find(root, ".next").onclick = () => goTo(state, state.place + 1);
    find(root, ".again").onclick = () => {
      state.answers.clear();
      goTo(state, -1);
    };
  },
  take(state) {
    const { root, data } = state;
    root.lang = data.language;
    if (state.identity !== data.identity) {
      Object.assign(state, { identity: data.identity, place: -1, name: "", draft: "", answers: new Map() });
      restore(state);
    }
    queueMicrotask(() => paint(state)); // once the boxes of its pictures are there
  },
});
