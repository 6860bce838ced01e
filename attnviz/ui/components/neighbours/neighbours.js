// List of the corpus vectors nearest to one of the current step, each a link to its sentence.

import { component } from "../component.js";
import { element, find, write } from "../elements.js";

/** @param {NeighbourPayload} neighbour @param {[string, string]} spoken */
function entry({ near, before, marked, after, other, to }, [own, others]) {
  const sentence = element("span", "sentence", before, element("mark", "", marked), after, { lang: own });
  const translation = element("span", "other", other, { lang: others });
  const link = { href: new URL(to, document.baseURI).href, target: "_self" };
  return element("li", "", element("a", "", element("span", "near", near), sentence, translation, link));
}

export default component(".neighbours", {
  take({ root, payload }, /** @type {PayloadAddress & { waiting: string }} */ { waiting }) {
    if (!payload) write(find(root, ".heading"), waiting);
  },
  read(/** @type {NeighboursState} */ { root }, /** @type {NeighboursPayload} */ payload) {
    for (const kind of ["decoder", "context", "encoder"]) root.classList.toggle(kind, kind === payload.kind);
    write(find(root, ".heading"), payload.heading);
    find(root, "ol").replaceChildren(...payload.entries.map((one) => entry(one, payload.spoken)));
  },
});
