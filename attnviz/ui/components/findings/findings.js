// Findings about the alignment (such as omitted or repeated words), each a link to its heatmap cell, and a sentence
// about the current step, which changes without the server.

import { component } from "../component.js";
import { button, element, find, findAll, write } from "../elements.js";
import { fill } from "../numbers.js";
import { send, viewState } from "../view.js";

/** @param {FindingPayload} finding @param {number} index @param {number} most */
function entry({ text, kind, strong, step, source }, index, most) {
  const made = button(strong ? `${kind} strong` : kind, () => send(made, "choose", { step, source }), text);
  made.dataset.step = String(step);
  return element("li", "", made, { hidden: index >= most });
}

export default component(".words", {
  take: () => true,
  /** @param {FindingsState} state */
  read(state, { summary, findings, atOnce, more }) {
    const { root } = state, drawn = JSON.stringify([summary, findings]);
    if (drawn === state.drawn) return;
    state.drawn = drawn;
    write(find(root, ".summary"), summary);
    const list = find(root, "ul");
    list.replaceChildren(...findings.map((finding, index) => entry(finding, index, atOnce)));
    const all = find(root, ".more");
    all.hidden = findings.length <= atOnce;
    write(all, fill(more, { n: findings.length - atOnce }));
    all.onclick = () => {
      for (const item of findAll(list, "li")) item.hidden = false;
      find(list.children[atOnce], "button").focus();
      all.hidden = true;
    };
  },
  show({ root }, { steps }) {
    const { step } = viewState(root);
    write(find(root, ".step"), steps[step ?? -1] ?? "");
    for (const made of findAll(root, "li button")) {
      const current = Number(made.dataset.step) === step;
      if (current === (made.ariaCurrent !== null)) continue; // setting it, even to its value, recomputes styles
      made.ariaCurrent = current ? "step" : null;
      made.tabIndex = current && made.matches(".example") ? -1 : 0; // it leads to where one is
    }
  },
});
