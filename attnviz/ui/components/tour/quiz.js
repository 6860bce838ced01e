// The quiz at the last stop of the tour: which source word has the most attention? The page hides the weights until all
// questions are answered.

import { MOST_SHADE } from "../../../figures/constants.js";
import { moveFocus } from "../keyboard.js";
import { element, fill, makeOneTabStop } from "../shared.js";
import { sentenceElement } from "./parts.js";

/**
 * Answers by translation; they survive a remount of the component.
 * @type {Map<string, QuizAnswers>}
 */
const quizzes = new Map();

/** @param {string} identity */
export function answersOf(identity) {
  const game = quizzes.get(identity) ?? { answers: [], questionIndex: 0 };
  quizzes.set(identity, game);
  return game;
}

/**
 * Whether questions are still to be answered.
 * @param {TourStop} stop
 * @param {string} identity
 */
export const isAsking = ({ quiz }, identity) =>
  Boolean(quiz && answersOf(identity).questionIndex < quiz.questions.length);

/**
 * @param {QuizPayload} quiz
 * @param {string} identity
 * @param {() => void} draw
 * @param {() => void} openNextPage
 */
export function quizBox(quiz, identity, draw, openNextPage) {
  const game = answersOf(identity), box = element("div", "quiz");
  if (game.questionIndex >= quiz.questions.length) box.append(...scoreParts(quiz, game, draw, openNextPage));
  else box.append(...questionParts(quiz, game, draw));
  return box;
}

/**
 * @param {QuizPayload} quiz
 * @param {QuizAnswers} game
 * @param {() => void} draw
 */
function questionParts(quiz, game, draw) {
  const { questions, words, names, target } = quiz, item = questions[game.questionIndex];
  const chosenWord = game.answers[game.questionIndex], answered = chosenWord !== undefined;
  const french = element("p", "french");
  french.lang = "fr";
  target.forEach(({ word, space }, k) => {
    french.append(space ? " " : "", k === item.word ? element("b", "target", word) : word);
  });
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
  const answer = element("div", "answer"), hit = item.attended.includes(chosenWord);
  const verdict = hit ? words.right : fill(words.wrong, { word: names[chosenWord], share: item.texts[chosenWord] });
  const line = sentenceElement(item.explained);
  line.prepend(element("strong", hit ? "hit" : "miss", verdict), " ");
  answer.setAttribute("role", "status");
  answer.append(line, element("p", "shades", words.shades));
  const last = game.questionIndex === questions.length - 1;
  const onward = element("button", "onward", last ? words.end : words.next);
  onward.type = "button";
  onward.onclick = () => {
    game.questionIndex += 1;
    draw();
  };
  return [french, ask, choices, answer, onward];
}

/**
 * The English words as buttons; once answered, with the attention of each.
 * @param {QuizPayload} quiz
 * @param {QuizQuestion} item
 * @param {number | undefined} chosenWord
 * @param {(chosen: number) => void} choose
 */
function choiceRow({ source, words }, item, chosenWord, choose) {
  const line = element("div", "english"), answered = chosenWord !== undefined;
  line.lang = "en";
  line.setAttribute("role", "group");
  line.setAttribute("aria-label", words.english);
  const buttons = source.map((word, k) => {
    const button = element("button", "word", word);
    button.type = "button";
    button.disabled = answered;
    button.onclick = () => choose(k);
    if (answered) showAttention(button, item, k, chosenWord);
    return button;
  });
  makeOneTabStop(buttons, buttons[chosenWord ?? 0]);
  line.onkeydown = (event) => moveFocus(event, buttons);
  line.append(...buttons.flatMap((button) => [button, " "]));
  return line;
}

/**
 * @param {HTMLElement} button
 * @param {QuizQuestion} item
 * @param {number} k
 * @param {number} chosenWord
 */
function showAttention(button, item, k, chosenWord) {
  button.style.setProperty("--weight", `${Math.round(100 * MOST_SHADE * Math.sqrt(item.shares[k]))}%`);
  button.style.setProperty("--after", String(item.later?.[k] ?? 0));
  button.title = `α ${item.texts[k]}`;
  button.classList.toggle("given", k === chosenWord);
  button.classList.toggle("attended", item.attended.includes(k));
}

/**
 * @param {QuizPayload} quiz
 * @param {QuizAnswers} game
 * @param {() => void} draw
 * @param {() => void} openNextPage
 */
function scoreParts({ questions, words, target, chance }, game, draw, openNextPage) {
  /** @param {"attended" | "meant"} by */
  const right = (by) => questions.filter((item, k) => item[by].includes(game.answers[k])).length;
  const n = questions.length, result = element("div", "score"), list = element("ul", "");
  result.append(element("p", "hits", fill(words.score, { hits: right("attended"), n })));
  if (words.later) result.append(element("p", "", fill(words.later, { hits: right("meant"), n })));
  result.append(element("p", "chance", chance));
  questions.forEach((item, k) => {
    const line = element("li", item.attended.includes(game.answers[k]) ? "hit" : "miss"),
      explained = sentenceElement(item.explained);
    explained.prepend(element("b", "target", target[item.word].word), ": ");
    line.append(explained);
    list.append(line);
  });
  const again = element("button", "plain", words.again);
  again.type = "button";
  again.onclick = () => {
    Object.assign(game, { answers: [], questionIndex: 0 });
    draw();
  };
  const on = element("button", "onward", words.lead);
  on.type = "button";
  on.onclick = openNextPage;
  return [result, list, on, element("p", "explained", words.explained), again];
}
