// Definitions of terms: paragraphs with **terms**, `signs` and $formulas$, typeset by KaTeX.

import { katexAt, typeset } from "../equation/equation.js";
import { element, find } from "../elements.js";

/** The nodes of a paragraph. @param {string} text @param {KatexLibrary | null} katex @returns {HTMLElement[]} */
function paragraphParts(text, katex) {
  return text.split(/(\*\*.+?\*\*|`.+?`|\$.+?\$)/).filter(Boolean).map((part) => {
    if (part.startsWith("**")) return element("b", "", ...paragraphParts(part.slice(2, -2), katex));
    if (part.startsWith("`")) return element("code", "", part.slice(1, -1));
    const node = element("span", "", part);
    if (part.startsWith("$") && katex) typeset(katex, part.slice(1, -1), node, false);
    return node;
  });
}

/** @param {Mounted<{ texts: string[], katex: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".definitions");
  const typeset = data.texts.some((text) => text.includes("$")) ? katexAt(data.katex) : Promise.resolve(null);
  void typeset.then((katex) => {
    root.replaceChildren(...data.texts.map((text) => element("p", "", ...paragraphParts(text, katex))));
  });
}
