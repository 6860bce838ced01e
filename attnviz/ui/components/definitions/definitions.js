// Definitions of terms: paragraphs with **terms**, `signs` and $formulas$, typeset by KaTeX.

import { katexAt, typeset } from "../equation/equation.js";
import { element, find } from "../shared.js";

/**
 * The nodes of a paragraph.
 * @param {string} text
 * @param {KatexLibrary | null} katex
 * @returns {HTMLElement[]}
 */
function paragraphParts(text, katex) {
  return text.split(/(\*\*.+?\*\*|`.+?`|\$.+?\$)/).filter(Boolean).map((part) => {
    if (part.startsWith("**")) {
      const term = element("b", "");
      term.append(...paragraphParts(part.slice(2, -2), katex));
      return term;
    }
    if (part.startsWith("`")) return element("code", "", part.slice(1, -1));
    const node = element("span", "", part);
    if (part.startsWith("$") && katex) typeset(katex, part.slice(1, -1), node, false);
    return node;
  });
}

/** @param {Mounted<{ texts: string[], katex: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".definitions");
  const draw = async () => {
    const katex = await katexAt(data.katex);
    root.replaceChildren(...data.texts.map((text) => {
      const paragraph = element("p", "");
      paragraph.append(...paragraphParts(text, katex));
      return paragraph;
    }));
  };
  // In a closed box: it is typeset once it is opened.
  const sight = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    sight.disconnect();
    void draw();
  });
  sight.observe(root);
  return () => sight.disconnect();
}
