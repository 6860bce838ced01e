// Interactive parts of a tour card: energies to drag, and shares before and after the word.

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
 * A sentence with some words in colour. Texts are set by textContent, so that they are never markup.
 * @param {Span[]} spans
 * @param {string} [className]
 */
export function sentence(spans, className = "") {
  const line = node("p", className);
  line.append(...spans.map(([kind, text]) => kind ? node("b", kind, text) : text));
  return line;
}

/**
 * The softmax of energies.
 * @param {number[]} energies
 */
function softmax(energies) {
  const most = Math.max(...energies), powers = energies.map((energy) => Math.exp(energy - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** @param {number} share */
const inPercent = (share) => percent(share, share >= 0.0995 || share < 0.0005 ? 0 : 1);

const BELOW = 2, ABOVE = 3; // range of the sliders beyond the energies of the step
const NOTCHES = 0.1;

/**
 * Sliders of energies; the shares follow, also those of the page's own bars.
 * @param {HTMLElement} root
 * @param {PullPayload} payload
 * @param {number} step
 * @param {Words} words
 */
export function energySliders(root, { energies, rows, shown: bars }, step, words) {
  const box = node("div", "pull"), least = Math.min(...energies) - BELOW, most = Math.max(...energies) + ABOVE;
  const now = [...energies];
  box.append(node("span", "head", ""), node("span", "head", words.fit), node("span", "head", words.share));
  const made = rows.map(({ piece, name }) => {
    const range = node("input", ""),
      bar = node("span", "share"),
      output = node("output", ""),
      fit = node("span", "energy");
    Object.assign(range, { type: "range", min: least, max: most, step: NOTCHES, ariaLabel: `${name}: ${words.fit}` });
    range.oninput = () => {
      now[piece] = Number(range.value);
      draw(true);
    };
    range.onpointerup = () => range.blur(); // the arrow keys belong to the tour again
    bar.append(node("i", ""), output);
    box.append(node("b", "source", name), range, fit, bar);
    return { piece, range, fit, bar, output };
  });
  const back = node("button", "plain", words.reset);
  back.type = "button";
  back.onclick = () => {
    now.splice(0, now.length, ...energies);
    for (const { piece, range } of made) range.value = String(now[piece]);
    draw(true);
  };
  box.append(back);
  /** @param {boolean} send */
  const draw = (send) => {
    const weights = softmax(now);
    for (const { piece, range, fit, bar, output } of made) {
      const energy = number(now[piece], 1), share = inPercent(weights[piece]);
      bar.style.setProperty("--share", `${100 * weights[piece]}%`);
      range.setAttribute("aria-valuetext", `${energy}, ${words.share} ${share}`);
      write(fit, energy);
      write(output, share);
    }
    back.hidden = now.every((energy, j) => energy === energies[j]);
    if (send && bars) {
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
export function comparedBars(rows, words) {
  const box = node("div", "compare"), key = node("p", "head");
  key.append(node("i", "before"), words.before, node("i", "after"), words.after);
  box.append(key);
  for (const { name, before, after, texts } of rows) {
    const bars = node("span", "bars");
    for (
      const [className, share, text] of /** @type {[string, number, string][]} */ ([
        ["before", before, texts[0]],
        ["after", after, texts[1]],
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
