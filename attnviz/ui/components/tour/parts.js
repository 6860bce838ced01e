// Interactive parts of a tour card: sliders of energies with the resulting attention weights, bars that compare attention and
// posterior attention, and the quiz: which source word has the most attention? The page hides the weights until all
// questions are answered.

import { softmax } from "../chart/weights.js";
import { element, shade, write } from "../elements.js";
import { makeOneTabStop, moveFocus } from "../keyboard.js";
import { fill, number, percent } from "../numbers.js";
import { send } from "../view.js";

/** A sentence with some words in colour. */
export function sentenceElement(/** @type {Span[]} */ spans, /** @type {string} */ className = "") {
  return element("p", className, ...spans.map(([kind, text]) => kind ? element("b", kind, text) : text));
}

const RANGE_BELOW = 2, RANGE_ABOVE = 3; // range of the sliders beyond the energies of the step
const SLIDER_STEP = 0.1;

/** Sliders of energies; the shares follow, also those of the page's own bars.
 * @param {HTMLElement} root @param {PullPayload} payload @param {number} step @param {Words} words */
export function energySliders(root, { energies, rows, shown: bars }, step, words) {
  const least = Math.min(...energies) - RANGE_BELOW, most = Math.max(...energies) + RANGE_ABOVE, now = [...energies];
  const heads = [undefined, words.fit, words.share].map((text) => element("span", "head", text));
  const box = element("div", "pull", ...heads);
  const made = rows.map(({ piece, name }) => {
    const range = element("input", ""), output = element("output", ""), fit = element("span", "energy");
    const bar = element("span", "share", element("i", ""), output), ariaLabel = `${name}: ${words.fit}`;
    Object.assign(range, { type: "range", min: least, max: most, step: SLIDER_STEP, ariaLabel });
    range.oninput = () => {
      now[piece] = Number(range.value);
      draw(true);
    };
    range.onpointerup = () => range.blur(); // the arrow keys belong to the tour again
    box.append(element("b", "source", name), range, fit, bar);
    return { piece, range, fit, bar, output };
  });
  const reset = () => {
    now.splice(0, now.length, ...energies);
    for (const { piece, range } of made) range.value = String(now[piece]);
  };
  const onclick = () => {
    reset();
    draw(true);
  };
  const back = element("button", "plain", words.reset, { onclick });
  box.append(back);
  const draw = (/** @type {boolean} */ isMoved) => {
    const weights = softmax(now);
    for (const { piece, range, fit, bar, output } of made) {
      const energy = number(now[piece], 1), share = percent(weights[piece], weights[piece] >= 0.0995 ? 0 : 1);
      bar.style.setProperty("--share", `${100 * weights[piece]}%`);
      range.setAttribute("aria-valuetext", `${energy}, ${words.share} ${share}`);
      write(fit, energy);
      write(output, share);
    }
    const unchanged = now.every((energy, j) => energy === energies[j]);
    back.style.visibility = unchanged ? "hidden" : ""; // it keeps its place: the sliders are not to move under the hand
    if (isMoved && bars) send(root, "preview", unchanged ? null : { kind: "weights", weights, step });
  };
  reset();
  draw(false);
  return box;
}

/** Shares before and after the word, one above the other. */
export function comparedBars(/** @type {ComparedShares[]} */ rows, /** @type {Words} */ words) {
  const key = element("p", "head", element("i", "before"), words.before, element("i", "after"), words.after);
  const compared = rows.flatMap(({ name, before, after, texts }) => {
    const bars = [before, after].map((share, k) => {
      const style = { "--share": `${100 * share}%` };
      return element("span", ["before", "after"][k], element("i", ""), element("span", "", texts[k]), { style });
    });
    return [element("b", "source", name), element("span", "bars", ...bars)];
  });
  return element("div", "compare", key, ...compared);
}

/** Answers by translation; they survive a remount of the component. @type {Map<string, QuizAnswers>} */
const quizzes = new Map();

export function answersOf(/** @type {string} */ identity) {
  const game = quizzes.get(identity) ?? { answers: [], questionIndex: 0 };
  quizzes.set(identity, game);
  return game;
}

/** Whether questions are still to be answered. */
export const isAsking = (/** @type {TourStop} */ { quiz }, /** @type {string} */ identity) =>
  Boolean(quiz && answersOf(identity).questionIndex < quiz.questions.length);

/** @param {QuizPayload} quiz @param {string} identity @param {() => void} draw @param {() => void} openNextPage */
export function quizBox(quiz, identity, draw, openNextPage) {
  const game = answersOf(identity), ended = game.questionIndex >= quiz.questions.length;
  const parts = ended ? scoreParts(quiz, game, draw, openNextPage) : questionParts(quiz, game, draw);
  return element("div", "quiz", ...parts);
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
  const place = { k: game.questionIndex + 1, n: questions.length, word: target[item.word].word };
  const ask = element("p", "ask", fill(words.ask, place));
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
