// The equation of a stage with the numbers of the current step, typeset by KaTeX.

import { component } from "../component.js";
import { find, findAll, makeScrollable, whenIdle, write } from "../elements.js";
import { viewState } from "../view.js";
import { equationAt } from "./texts.js";

/** KaTeX, loaded once for the page; null where loading failed.
 * @param {string} address @returns {Promise<KatexLibrary | null>} */
export async function katexAt(address) {
  try {
    if (!window.katex) await import(new URL(address, document.baseURI).href);
    return window.katex ?? null;
  } catch {
    return null;
  }
}

/** Typesets a formula.
 * @param {KatexLibrary} katex @param {string} latex @param {HTMLElement} place @param {boolean} displayMode */
export const typeset = (katex, latex, place, displayMode) =>
  katex.render(latex, place, { displayMode, throwOnError: false });

/** Typesets the equation of a component, unless it is there; without KaTeX, writes it as LaTeX until it is drawn again.
 * @param {ComponentState & { latex?: string }} state @param {string} latex @param {string} address */
export async function writeEquation(state, latex, address) {
  const { root, signal } = state, place = find(root, ".math");
  if (latex === state.latex) return;
  state.latex = latex;
  const katex = await katexAt(address);
  if (state.latex !== latex || signal.aborted) return;
  if (katex) {
    typeset(katex, latex, place, true);
    // Not at once: reading a width would lay out the page for every equation of a step.
    whenIdle(() => findAll(root, ".katex-display").forEach(makeScrollable));
  } else {
    write(place, latex);
    state.latex = undefined;
  }
}

export default component(".equation", {
  show(/** @type {EquationState} */ state, /** @type {EquationPayload} */ payload) {
    const { step, source } = viewState(state.root), equation = equationAt(payload, step, source);
    if (!equation) return;
    write(find(state.root, "p"), equation.note);
    writeEquation(state, equation.latex, payload.katex);
  },
});
