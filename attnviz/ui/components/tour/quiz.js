// The questions of the last stop: where did it look most? The page shows nothing of it until all are answered.

import { MOST_GREEN } from "../../../figures/constants.js";
import { fill } from "../shared.js";
import { node, sentence } from "./parts.js";

/**
 * What was answered, by the translation; kept while the page is, whatever Streamlit draws anew.
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
 * The question that is asked, the answer to it, or the score and a way to `lead` on.
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
  const { questions, words, names, target } = quiz, one = questions[game.asked];
  const given = game.answers[game.asked], answered = given !== undefined;
  const french = node("p", "french");
  french.lang = "fr";
  target.forEach(({ word, space }, k) => {
    french.append(space ? " " : "", k === one.word ? node("b", "target", word) : word);
  });
  const ask = node(
    "p",
    "ask",
    fill(words.ask, { k: game.asked + 1, n: questions.length, word: target[one.word].word }),
  );
  const choices = row(quiz, one, given, (chosen) => {
    game.answers[game.asked] = chosen;
    draw();
  });
  if (!answered) return [french, ask, choices];
  const told = node("div", "answer"), hit = one.looked.includes(given);
  const verdict = hit ? words.right : fill(words.wrong, { word: names[given], share: one.told[given] });
  const line = sentence(one.explained);
  line.prepend(node("strong", hit ? "hit" : "miss", verdict), " ");
  told.setAttribute("role", "status");
  told.append(line, node("p", "shades", words.shades));
  const last = game.asked === questions.length - 1;
  const onward = node("button", "onward", last ? words.end : words.next);
  onward.type = "button";
  onward.onclick = () => {
    game.asked += 1;
    draw();
  };
  return [french, ask, choices, told, onward];
}

/**
 * The English words, one of which is the answer; once it is given, how much of the look each got.
 * @param {QuizPayload} quiz
 * @param {QuizQuestion} one
 * @param {number | undefined} given
 * @param {(chosen: number) => void} choose
 */
function row({ source, words }, one, given, choose) {
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
    if (answered) shade(button, one, k, given);
    return button;
  });
  line.onkeydown = (event) => walk(event, buttons);
  line.append(...buttons.flatMap((button) => [button, " "]));
  return line;
}

/**
 * @param {HTMLElement} button
 * @param {QuizQuestion} one
 * @param {number} k
 * @param {number} given
 */
function shade(button, one, k, given) {
  button.style.setProperty("--weight", `${Math.round(100 * MOST_GREEN * Math.sqrt(one.shares[k]))}%`);
  button.style.setProperty("--after", String(one.later?.[k] ?? 0));
  button.title = `α ${one.told[k]}`;
  button.classList.toggle("given", k === given);
  button.classList.toggle("looked", one.looked.includes(k));
}

/**
 * The arrow keys go from word to word: of many words Tab stops at one.
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
 * What was right by α, and after the word; what chance would give; and each answer once more.
 * @param {QuizPayload} quiz
 * @param {Played} game
 * @param {() => void} draw
 * @param {() => void} lead
 */
function score({ questions, words, target, chance }, game, draw, lead) {
  /** @param {"looked" | "meant"} by */
  const right = (by) => questions.filter((one, k) => one[by].includes(game.answers[k])).length;
  const n = questions.length, result = node("div", "score"), list = node("ul", "");
  result.append(node("p", "hits", fill(words.score, { hits: right("looked"), n })));
  if (words.later) result.append(node("p", "", fill(words.later, { hits: right("meant"), n })));
  result.append(node("p", "chance", chance));
  questions.forEach((one, k) => {
    const line = node("li", one.looked.includes(game.answers[k]) ? "hit" : "miss"), told = sentence(one.explained);
    told.prepend(node("b", "target", target[one.word].word), ": ");
    line.append(told);
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
