// A lesson: one question after the other, each answered before its answer is shown; at the end the score and the answer
// sheet. The browser stores the answers, so that a reload keeps them. The pictures of an item are blocks beside it.

import { element, fill, find, findAll, number, setLanguage, states, write, writeTexts } from "../shared.js";
import { viewRoot, viewState } from "../view.js";
import { answerSheet } from "./answer_sheet.js";

/** @param {LessonState} state */
const questions = ({ data: { items } }) => items.flatMap(({ kind }, place) => kind ? [place] : []);

/**
 * Whether an answered item is right.
 * @param {LessonState} state
 * @param {number} place
 */
function isRight({ data: { items }, answers }, place) {
  const { kind, tolerance, answer } = items[place], given = answers.get(place);
  if (given === undefined || given === null) return false;
  // A hair more than the tolerance, so that a difference of exactly the tolerance is right in binary fractions too.
  return kind === "number" ? Math.abs(given - answer.value) <= tolerance + 1e-9 : answer.right.includes(given);
}

/**
 * The text of what was answered.
 * @param {LessonState} state
 * @param {number} place
 */
function givenText({ data: { items, words, language }, answers }, place) {
  const given = answers.get(place), { kind, options, unit } = items[place];
  if (given === undefined || given === null) return words.unanswered;
  if (kind !== "number") return options[given];
  return fill(unit, { n: given.toLocaleString(language, { maximumFractionDigits: 4 }) });
}

/**
 * Where the browser stores the answers of a lesson.
 * @param {LessonState} state
 */
const storageName = ({ data }) => `attnviz-lesson-${data.identity}`;

/**
 * Stores the answers; a browser may refuse, for instance in a private window.
 * @param {LessonState} state
 */
function store(state) {
  const { place, name, answers } = state;
  try {
    if (place < 0 && !answers.size) localStorage.removeItem(storageName(state));
    else localStorage.setItem(storageName(state), JSON.stringify({ place, name, answers: [...answers] }));
  } catch {
    // The answers last as long as the page.
  }
}

/**
 * The stored answers, if there are valid ones.
 * @param {LessonState} state
 */
function restore(state) {
  try {
    const { place, name, answers } = JSON.parse(localStorage.getItem(storageName(state)) ?? "");
    const known = new Map(/** @type {[number, number | null][]} */ (answers));
    if (![...known.keys()].every((key) => key in state.data.items)) return;
    state.answers = known;
    state.name = String(name);
    state.place = Math.min(Math.max(Number(place), -1), state.data.items.length);
  } catch {
    // There are none.
  }
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
    line.append(k === marked ? element("mark", "", text) : text);
  });
}

/**
 * @param {string} type
 * @param {string} value
 */
function input(type, value) {
  const made = document.createElement("input");
  made.type = type;
  made.value = value;
  return made;
}

/** @param {LessonState} state */
function optionRow({ data: { items, words }, place, answers, draft }) {
  const { kind, options, answer } = items[place], given = answers.get(place), isAnswered = answers.has(place);
  const box = element("fieldset", kind === "choice" ? "texts" : "");
  box.append(element("legend", "", words.options));
  options.forEach((text, k) => {
    const label = element("label", ""), radio = input("radio", String(k));
    radio.name = "answer";
    radio.checked = isAnswered ? given === k : draft === String(k);
    radio.disabled = isAnswered;
    const written = element("span", "", text);
    if (kind !== "choice") written.lang = kind === "attends" ? "en" : "fr";
    label.append(radio, written);
    if (isAnswered && answer.right.includes(k)) {
      label.append(element("b", "hit", `✓ ${words.right_option}`));
    } else if (isAnswered && given === k) {
      label.append(element("b", "miss", `✗ ${words.wrong_option}`));
    }
    box.append(label);
  });
  return box;
}

/** @param {LessonState} state */
function numberField(state) {
  const { data, place, answers, draft } = state, isAnswered = answers.has(place);
  const box = element("label", "number"), field = input("text", isAnswered ? givenText(state, place) : draft);
  field.name = "answer";
  field.inputMode = "decimal";
  field.setAttribute("autocomplete", "off");
  field.disabled = isAnswered;
  box.append(element("span", "", data.items[place].hint), field);
  return box;
}

/**
 * A number as it was typed: with a point or comma, and perhaps a per cent sign; NaN for any other text.
 * @param {string} text
 */
function typedNumber(text) {
  const written = text.trim().replace("\u2212", "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)\s*%?$/.test(written) ? parseFloat(written) : NaN;
}

/**
 * Takes the answer in the form.
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function answerItem(root, state) {
  const given = typedNumber(state.draft), { data, place, answers } = state;
  if (answers.has(place)) return;
  if (Number.isNaN(given)) {
    if (data.items[place].kind === "number") write(find(root, ".problem"), data.words.not_a_number);
    return;
  }
  answers.set(place, given);
  paint(root, state);
  find(root, ".next").focus();
}

/**
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function paintForm(root, state) {
  const form = find(root, "form", HTMLFormElement), { data, place, answers, draft } = state, item = data.items[place];
  form.replaceChildren();
  form.hidden = !item?.kind;
  if (!item?.kind) return;
  const check = element("button", "onward", data.words.check);
  check.hidden = answers.has(place);
  check.disabled = !draft && item.kind !== "number";
  form.oninput = () => {
    state.draft = String(new FormData(form).get("answer") ?? "");
    check.disabled = false;
  };
  const problem = element("p", "problem");
  problem.role = "alert";
  form.append(item.kind === "number" ? numberField(state) : optionRow(state), problem, check);
}

/**
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function paintVerdict(root, state) {
  const box = find(root, ".verdict"), { data: { items, words }, place, answers } = state;
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

/**
 * Shows the pictures of the current question, and those of its answer once it is there.
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function showPictures(root, { data: { items }, place, answers }) {
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

/**
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function paintScore(root, state) {
  const box = find(root, ".verdict"), list = element("ol", "answers"), { data: { items, words } } = state;
  const asked = questions(state), hits = asked.filter((place) => isRight(state, place)).length;
  box.replaceChildren(element("p", "total", fill(words.hits, { hits: number(hits, 0), n: asked.length })));
  for (const place of asked) {
    const isHit = isRight(state, place),
      line = element("li", ""),
      right = isHit ? "" : ` → ${items[place].answer.text}`;
    line.append(
      element("b", isHit ? "hit" : "miss", isHit ? "✓ " : "✗ "),
      items[place].question,
      element("span", "note", ` ${givenText(state, place)}${right}`),
    );
    list.append(line);
  }
  const label = element("label", "name", words.name), field = input("text", state.name);
  field.oninput = () => {
    state.name = field.value;
    store(state);
  };
  label.append(field);
  const sheet = element("button", "onward", words.sheet), row = element("div", "row");
  sheet.type = "button";
  sheet.onclick = () => saveSheet(state);
  row.append(label, sheet);
  box.append(row, list);
}

/** @param {LessonState} state */
function saveSheet(state) {
  const { data: { items, words } } = state, name = state.name.trim();
  const rows = questions(state).map((place) => [
    name,
    items[place].question,
    givenText(state, place),
    items[place].answer.text,
    isRight(state, place) ? "1" : "0",
  ]);
  const head = ["name", "question", "answer", "right", "score"].map((column) => words[`column_${column}`]);
  const link = element("a", "");
  link.download = `${[words.file, name].filter(Boolean).join("-")}.csv`;
  link.href = URL.createObjectURL(new Blob([answerSheet([head, ...rows])], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * @param {HTMLElement} root
 * @param {LessonState} state
 */
function paint(root, state) {
  const { data: { items, words }, place, answers } = state, item = items[place], isEnd = place === items.length;
  write(find(root, ".question"), item?.question ?? (isEnd ? words.summary : words.duration));
  find(root, ".pair").hidden = !item;
  if (item) {
    writeSentence(find(root, ".source"), item.source, -1);
    writeSentence(find(root, ".target"), answers.has(place) ? item.answer.target : item.target, item.word);
    if (!answers.has(place)) find(root, ".target").append(item.target.length ? " …" : "…");
  }
  paintForm(root, state);
  if (isEnd) paintScore(root, state);
  else paintVerdict(root, state);
  showPictures(root, state);
  const answered = questions(state).filter((one) => answers.has(one));
  const hits = answered.filter((one) => isRight(state, one)).length;
  write(find(root, ".count"), item ? fill(words.place, { i: place + 1, n: items.length }) : "");
  write(find(root, ".score"), item && answered.length ? fill(words.score, { hits, n: answered.length }) : "");
  const progress = find(root, "progress", HTMLProgressElement);
  progress.max = items.length;
  progress.value = place + 1;
  find(root, ".again").hidden = place < 0;
  find(root, ".previous").hidden = place < 0;
  const next = find(root, ".next", HTMLButtonElement);
  next.hidden = isEnd;
  next.disabled = place >= 0 && !answers.has(place);
  write(next, place < 0 ? words.start : place === items.length - 1 ? words.finish : words.next);
  store(state);
}

/**
 * @param {HTMLElement} root
 * @param {LessonState} state
 * @param {number} place
 */
function goTo(root, state, place) {
  const item = state.data.items[place];
  if (item && !item.kind && !state.answers.has(place)) state.answers.set(place, null);
  Object.assign(state, { place, draft: "" });
  paint(root, state);
  if (root.getBoundingClientRect().top < 0) root.scrollIntoView();
  find(root, ".question").focus({ preventScroll: true });
}

/**
 * @param {HTMLElement} root
 * @param {LessonData} data
 * @returns {LessonState}
 */
function start(root, data) {
  /** @type {LessonState} */
  const state = { data, place: -1, name: "", draft: "", answers: new Map() };
  restore(state);
  find(root, "form").onsubmit = (event) => {
    event.preventDefault();
    answerItem(root, state);
  };
  find(root, ".previous").onclick = () => goTo(root, state, state.place - 1);
  find(root, ".next").onclick = () => goTo(root, state, state.place + 1);
  find(root, ".again").onclick = () => {
    state.answers.clear();
    goTo(root, state, -1);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<LessonData>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".lesson");
  setLanguage(data.language);
  root.lang = data.language;
  writeTexts(root, data.words);
  write(find(root, ".lesson-title"), data.words.title);
  const before = states.get(root), state = before?.data.identity === data.identity ? before : start(root, data);
  state.data = data;
  queueMicrotask(() => paint(root, state)); // once the boxes of its pictures are there
  return () => states.delete(root);
}
