// The finished hypotheses of a beam search as buttons: a click makes one the translation, pointing at one marks it in the
// search tree.

import { component } from "../component.js";
import { button, element, find, write } from "../elements.js";
import { send } from "../view.js";

function entry(/** @type {HypothesisPayload} */ { text, score, note, shown, pieces }, /** @type {number} */ replaced) {
  const choose = () => {
    if (!shown) send(made, "try", { intervention: { kind: "words", pieces, step: 0, replaced }, held: true });
  };
  const made = button("", choose, element("span", "text", text), " ", element("span", "score", score));
  if (note) made.append(" ", element("span", "note", note));
  if (shown) made.ariaCurrent = "true";
  for (const here of ["pointerenter", "focus"]) made.addEventListener(here, () => send(made, "hint", pieces));
  for (const gone of ["pointerleave", "blur"]) made.addEventListener(gone, () => send(made, "hint", null));
  return element("li", "", made);
}

export default component(".hypotheses", {
  /** @param {HypothesesState} state */
  read({ root }, payload) {
    write(find(root, ".unit"), payload.unit);
    find(root, "ol").replaceChildren(...payload.entries.map((one) => entry(one, payload.replaced)));
  },
});
