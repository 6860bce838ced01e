// Interactive parts of a tour card: sliders of energies with the resulting attention weights, and bars that compare
// attention and posterior attention.

import { softmax } from "../chart/changed_weights.js";
import { element, number, percent, write } from "../shared.js";
import { send } from "../view.js";

/** A sentence with some words in colour. Texts are set by textContent, so that they are never markup.
 * @param {Span[]} spans @param {string} [className] */
export function sentenceElement(spans, className = "") {
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
  /** @param {boolean} isMoved */
  const draw = (isMoved) => {
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
    if (isMoved && bars) {
      send(root, "preview", unchanged ? null : { kind: "weights", weights, step });
    }
  };
  reset();
  draw(false);
  return box;
}

/** Shares before and after the word, one above the other. @param {ComparedShares[]} rows @param {Words} words */
export function comparedBars(rows, words) {
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
