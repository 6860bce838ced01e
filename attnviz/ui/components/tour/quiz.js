// The quiz at the last stop of the tour: which source word has the most attention? The page hides the weights until all
// questions are answered.

import { moveFocus } from "../keyboard.js";
import { element, fill, makeOneTabStop, shade } from "../shared.js";
import { sentenceElement } from "./parts.js";

/** Answers by translation; they survive a remount of the component. @type {Map<string, QuizAnswers>} */
const quizzes = new Map();

/** @param {string} identity */
export function answersOf(identity) {
  const game = quizzes.get(identity) ?? { answers: [], questionIndex: 0 };
  quizzes.set(identity, game);
  return game;
}

/** Whether questions are still to be answered. @param {TourStop} stop @param {string} identity */
export const isAsking = ({ quiz }, identity) =>
  Boolean(quiz && answersOf(identity).questionIndex < quiz.questions.length);

/** @param {QuizPayload} quiz @param {string} identity @param {() => void} draw @param {() => void} openNextPage */
export function quizBox(quiz, identity, draw, openNextPage) {
  const game = answersOf(identity), ended = game.questionIndex >= quiz.questions.length;
  return element(
    "div",
    "quiz",
    ...(ended ? scoreParts(quiz, game, draw, openNextPage) : questionParts(quiz, game, draw)),
  );
}

/** @param {QuizPayload} quiz @param {QuizAnswers} game @param {() => void} draw */
function questionParts(quiz, game, draw) {
  const { questions, words, names, target } = quiz, item = questions[game.questionIndex];
  const chosenWord = game.answers[game.questionIndex], answered = chosenWord !== undefined;
  const written = target.flatMap(({ word, space }, k) => [
    space ? " " : "",
    k === item.word ? element("b", "target", word) : word,
  ]);
  const french = element("p", "french", { lang: "fr" }, ...written);
  const ask = element(
    "p",
    "ask",
    fill(words.ask, { k: game.questionIndex + 1, n: questions.length, word: target[item.word].word }),
  );
  const choices = choiceRow(quiz, item, chosenWord, (chosen) => {
    game.answers[game.questionIndex] = chosen;
    draw();
  });
  if (!answered) return [french, ask, choices];
  const hit = item.attended.includes(chosenWord);
  const verdict = hit ? words.right : fill(words.wrong, { word: names[chosenWord], share: item.texts[chosenWord] });
  const line = sentenceElement(item.explained);
  line.prepend(element("strong", hit ? "hit" : "miss", verdict), " ");
  const answer = element("div", "answer", { role: "status" }, line, element("p", "shades", words.shades));
  const last = game.questionIndex === questions.length - 1;
  const onclick = () => {
    game.questionIndex += 1;
    draw();
  };
  return [french, ask, choices, answer, element("button", "onward", last ? words.end : words.next, { onclick })];
}

/** The English words as buttons; once answered, with the attention of each.
 * @param {QuizPayload} quiz @param {QuizQuestion} item @param {number | undefined} chosenWord
 * @param {(chosen: number) => void} choose */
function choiceRow({ source, words }, item, chosenWord, choose) {
  const answered = chosenWord !== undefined;
  const buttons = source.map((word, k) => {
    const button = element("button", "word", word, { disabled: answered, onclick: () => choose(k) });
    if (answered) showAttention(button, item, k, chosenWord);
    return button;
  });
  makeOneTabStop(buttons, buttons[chosenWord ?? 0]);
  const onkeydown = (/** @type {KeyboardEvent} */ event) => moveFocus(event, buttons);
  const properties = { lang: "en", role: "group", ariaLabel: words.english, onkeydown };
  return element("div", "english", properties, ...buttons.flatMap((button) => [button, " "]));
}

/** @param {HTMLElement} button @param {QuizQuestion} item @param {number} k @param {number} chosenWord */
function showAttention(button, item, k, chosenWord) {
  shade(button, item.shares[k]);
  button.style.setProperty("--after", String(item.later?.[k] ?? 0));
  button.title = `α ${item.texts[k]}`;
  button.classList.toggle("given", k === chosenWord);
  button.classList.toggle("attended", item.attended.includes(k));
}

/** @param {QuizPayload} quiz @param {QuizAnswers} game @param {() => void} draw @param {() => void} openNextPage */
function scoreParts({ questions, words, target, chance }, game, draw, openNextPage) {
  /** @param {"attended" | "meant"} by */
  const right = (by) => questions.filter((item, k) => item[by].includes(game.answers[k])).length;
  const n = questions.length;
  const result = element("div", "score", element("p", "hits", fill(words.score, { hits: right("attended"), n })));
  if (words.later) result.append(element("p", "", fill(words.later, { hits: right("meant"), n })));
  result.append(element("p", "chance", chance));
  const lines = questions.map((item, k) => {
    const explained = sentenceElement(item.explained);
    explained.prepend(element("b", "target", target[item.word].word), ": ");
    return element("li", item.attended.includes(game.answers[k]) ? "hit" : "miss", explained);
  });
  const onclick = () => {
    Object.assign(game, { answers: [], questionIndex: 0 });
    draw();
  };
  const again = element("button", "plain", words.again, { onclick });
  const on = element("button", "onward", words.lead, { onclick: openNextPage });
  return [result, element("ul", "", ...lines), on, element("p", "explained", words.explained), again];
}
