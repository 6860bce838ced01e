// Shows beside the bar that is being dragged what its weights would do: the probability of the step's word, and the
// translation with what would change. The server computes it whenever the hand rests.

import { fetchJson } from "../payloads.js";
import { find, states, write } from "../shared.js";
import { viewState } from "../view.js";
import { changedWords } from "../changed_words.js";

const REST = 16; // milliseconds without a movement, after which the hand rests
const GAP = 6; // pixels between the bar and the box below it
const ABOVE = 30; // pixels between the bar and the box above it, for the number there

/** Requests what the weights shown would do, once the hand rests; of several requests the last one is shown.
 * @param {ChartState} state */
export function requestConsequence(state) {
  const { root, consequenceAddress, sliders } = state, { step, held } = viewState(root);
  if (!sliders?.drag || step === null) return;
  clearTimeout(sliders.rest);
  find(root, ".consequence").classList.add("stale");
  sliders.rest = setTimeout(async () => {
    const weights = sliders.shownWeights;
    const whatIf = { intervention: { kind: "weights", weights: Array.from(weights), step }, held };
    const query = new URLSearchParams({ what_if: JSON.stringify(whatIf) });
    const wanted = () => states.has(root) && state.sliders === sliders && sliders.shownWeights === weights;
    const consequence = await fetchJson(`${consequenceAddress}&${query}`, true, wanted);
    if (consequence && sliders.drag && wanted()) {
      showConsequence(root, sliders.bars[sliders.drag.piece], consequence, state.words?.outdated ?? "");
    }
  }, REST);
}

/** @param {HTMLElement} root @param {HTMLElement} bar @param {Consequence} consequence
 * @param {string} outdated what the rest of the page still shows */
function showConsequence(root, bar, { probability, words }, outdated) {
  const box = find(root, ".consequence"), translation = find(box, ".translation");
  write(find(box, ".probability"), probability);
  translation.replaceChildren(...changedWords(words));
  translation.hidden = words.length === 0;
  write(find(box, ".outdated"), outdated);
  box.hidden = false;
  box.classList.remove("stale");
  // Below upright bars is their mixture.
  const { offsetTop, offsetHeight } = bar,
    fits = !bar.matches(".upright") && bar.getBoundingClientRect().bottom + GAP + box.offsetHeight < innerHeight;
  box.style.top = `${fits ? offsetTop + offsetHeight + GAP : offsetTop - ABOVE - box.offsetHeight}px`;
}
