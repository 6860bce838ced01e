// The quiz of the last stop: which source word has the most attention? The page hides the weights until all are answered.

import { MOST_GREEN } from "../../../figures/constants.js";
import { fill } from "../shared.js";
import { node, sentence } from "./parts.js";

/**
 * Answers by translation; they survive a remount of the component.
 * @type {Map<string, Played>}
 */
const games = new Map();

/** @param {string} identity */
export function gameOf(identity) {
  const game = games.get(identity) ?? { answers: [], asked: 0 };
  games.set(identity, game);
  return game;
}

/**
 * Whether questions are still to be answered.
 * @param {TourStop} stop
 * @param {string} identity
 */
export const asking = ({ quiz }, identity) => Boolean(quiz && gameOf(identity).asked < quiz.questions.length);

/**
 * The current question with its answer, or the score with a button that calls `lead`.
 * @param {QuizPayload} quiz
 * @param {string} identity
 * @param {() => void} draw
 * @param {() => void} lead
 */
export function quizBox(quiz, identity, draw, lead) {
  const game = gameOf(identity), box = node("div", "quiz");
  if (game.asked >= quiz.questions.length) box.append(...score(quiz, game, draw, lead));
  else box.append(...question(quiz, game, draw));
  return box;
}

/**
 * @param {QuizPayload} quiz
 * @param {Played} game
 * @param {() => void} draw
 */
function question(quiz, game, draw) {
  const { questions, words, names, target } = quiz, item = questions[game.asked];
  const given = game.answers[game.asked], answered = given !== undefined;
  const french = node("p", "french");
  french.lang = "fr";
  target.forEach(({ word, space }, k) => {
    french.append(space ? " " : "", k === item.word ? node("b", "target", word) : word);
  });
  const ask = node(
    "p",
    "ask",
    fill(words.ask, { k: game.asked + 1, n: questions.length, word: target[item.word].word }),
  );
  const choices = row(quiz, item, given, (chosen) => {
    game.answers[game.asked] = chosen;
    draw();
  });
  if (!answered) return [french, ask, choices];
  const answer = node("div", "answer"), hit = item.attended.includes(given);
  const verdict = hit ? words.right : fill(words.wrong, { word: names[given], share: item.texts[given] });
  const line = sentence(item.explained);
  line.prepend(node("strong", hit ? "hit" : "miss", verdict), " ");
  answer.setAttribute("role", "status");
  answer.append(line, node("p", "shades", words.shades));
  const last = game.asked === questions.length - 1;
  const onward = node("button", "onward", last ? words.end : words.next);
  onward.type = "button";
  onward.onclick = () => {
    game.asked += 1;
    draw();
  };
  return [french, ask, choices, answer, onward];
}

/**
 * The English words as buttons; once answered, with the attention of each.
 * @param {QuizPayload} quiz
 * @param {QuizQuestion} item
 * @param {number | undefined} given
 * @param {(chosen: number) => void} choose
 */
function row({ source, words }, item, given, choose) {
  const line = node("div", "english"), answered = given !== undefined;
  line.lang = "en";
  line.setAttribute("role", "group");
  line.setAttribute("aria-label", words.english);
  const buttons = source.map((word, k) => {
    const button = node("button", "word", word);
    button.type = "button";
    button.tabIndex = k === (given ?? 0) ? 0 : -1;
    button.disabled = answered;
    button.onclick = () => choose(k);
    if (answered) shade(button, item, k, given);
    return button;
  });
  line.onkeydown = (event) => walk(event, buttons);
  line.append(...buttons.flatMap((button) => [button, " "]));
  return line;
}

/**
 * @param {HTMLElement} button
 * @param {QuizQuestion} item
 * @param {number} k
 * @param {number} given
 */
function shade(button, item, k, given) {
  button.style.setProperty("--weight", `${Math.round(100 * MOST_GREEN * Math.sqrt(item.shares[k]))}%`);
  button.style.setProperty("--after", String(item.later?.[k] ?? 0));
  button.title = `α ${item.texts[k]}`;
  button.classList.toggle("given", k === given);
  button.classList.toggle("attended", item.attended.includes(k));
}

/**
 * Moves the focus with the arrow keys: the words are one tab stop.
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement[]} buttons
 */
function walk(event, buttons) {
  const here = buttons.findIndex((button) => button === event.target);
  /** @type {Record<string, number>} */
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: buttons.length - 1 };
  const next = buttons[to[event.key]];
  if (event.key in to) event.preventDefault();
  if (here < 0 || !next) return;
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}

/**
 * The score by α and by posterior attention, that of guessing, and each answer again.
 * @param {QuizPayload} quiz
 * @param {Played} game
 * @param {() => void} draw
 * @param {() => void} lead
 */
function score({ questions, words, target, chance }, game, draw, lead) {
  /** @param {"attended" | "meant"} by */
  const right = (by) => questions.filter((item, k) => item[by].includes(game.answers[k])).length;
  const n = questions.length, result = node("div", "score"), list = node("ul", "");
  result.append(node("p", "hits", fill(words.score, { hits: right("attended"), n })));
  if (words.later) result.append(node("p", "", fill(words.later, { hits: right("meant"), n })));
  result.append(node("p", "chance", chance));
  questions.forEach((item, k) => {
    const line = node("li", item.attended.includes(game.answers[k]) ? "hit" : "miss"),
      explained = sentence(item.explained);
    explained.prepend(node("b", "target", target[item.word].word), ": ");
    line.append(explained);
    list.append(line);
  });
  const again = node("button", "plain", words.again);
  again.type = "button";
  again.onclick = () => {
    Object.assign(game, { answers: [], asked: 0 });
    draw();
  };
  const on = node("button", "onward", words.lead);
  on.type = "button";
  on.onclick = lead;
  return [result, list, on, node("p", "explained", words.explained), again];
}
