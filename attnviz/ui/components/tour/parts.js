// What stands on a card besides its sentences: energies to pull, and shares before and after the word.

import { number, percent, write } from "../shared.js";
import { preview, shown } from "../view.js";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string} [text]
 */
export function node(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * A sentence, some words of it in their colours. Visitors' words are set as text, so that nothing is read as markup.
 * @param {Span[]} spans
 * @param {string} [className]
 */
export function sentence(spans, className = "") {
  const line = node("p", className);
  line.append(...spans.map(([kind, text]) => kind ? node("b", kind, text) : text));
  return line;
}

/**
 * Shares of one look, from energies.
 * @param {number[]} energies
 */
function shared(energies) {
  const most = Math.max(...energies), powers = energies.map((energy) => Math.exp(energy - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** @param {number} share */
const inPercent = (share) => percent(share, share >= 0.0995 || share < 0.0005 ? 0 : 1);

const BELOW = 2, ABOVE = 3; // how far beyond the energies of a step one can be pulled
const NOTCHES = 0.1;

/**
 * Energies as bars to be pulled; the shares follow, those of the page's own bars too.
 * @param {HTMLElement} root
 * @param {PullPayload} payload
 * @param {number} step
 * @param {Words} words
 */
export function pulled(root, { energies, rows, shown: bars }, step, words) {
  const box = node("div", "pull"), least = Math.min(...energies) - BELOW, most = Math.max(...energies) + ABOVE;
  const now = [...energies];
  box.append(node("span", "head", ""), node("span", "head", words.fit), node("span", "head", words.share));
  const made = rows.map(({ piece, name }) => {
    const range = node("input", ""),
      bar = node("span", "share"),
      told = node("output", ""),
      fit = node("span", "energy");
    Object.assign(range, { type: "range", min: least, max: most, step: NOTCHES, ariaLabel: `${name}: ${words.fit}` });
    range.oninput = () => {
      now[piece] = Number(range.value);
      draw(true);
    };
    range.onpointerup = () => range.blur(); // the arrows are the tour's again
    bar.append(node("i", ""), told);
    box.append(node("b", "source", name), range, fit, bar);
    return { piece, range, fit, bar, told };
  });
  const back = node("button", "plain", words.reset);
  back.type = "button";
  back.onclick = () => {
    now.splice(0, now.length, ...energies);
    for (const { piece, range } of made) range.value = String(now[piece]);
    draw(true);
  };
  box.append(back);
  /** @param {boolean} tell */
  const draw = (tell) => {
    const weights = shared(now);
    for (const { piece, range, fit, bar, told } of made) {
      const energy = number(now[piece], 1), share = inPercent(weights[piece]);
      bar.style.setProperty("--share", `${100 * weights[piece]}%`);
      range.setAttribute("aria-valuetext", `${energy}, ${words.share} ${share}`);
      write(fit, energy);
      write(told, share);
    }
    back.hidden = now.every((energy, j) => energy === energies[j]);
    if (tell && bars) {
      preview(root, back.hidden ? null : { kind: "weights", step, weights, held: shown(root).held });
    }
  };
  for (const { piece, range } of made) range.value = String(now[piece]);
  draw(false);
  return box;
}

/**
 * Shares before and after the word, one above the other.
 * @param {ComparedShares[]} rows
 * @param {Words} words
 */
export function compared(rows, words) {
  const box = node("div", "compare"), key = node("p", "head");
  key.append(node("i", "before"), words.before, node("i", "after"), words.after);
  box.append(key);
  for (const { name, before, after, told } of rows) {
    const bars = node("span", "bars");
    for (
      const [className, share, text] of /** @type {[string, number, string][]} */ ([
        ["before", before, told[0]],
        ["after", after, told[1]],
      ])
    ) {
      const bar = node("span", className);
      bar.style.setProperty("--share", `${100 * share}%`);
      bar.append(node("i", ""), node("span", "", text));
      bars.append(bar);
    }
    box.append(node("b", "source", name), bars);
  }
  return box;
}
