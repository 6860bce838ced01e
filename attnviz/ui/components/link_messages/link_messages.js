// Shows messages about invalid values of a link, each until another value is chosen.

import { find, states } from "../shared.js";

/** The value that first replaced each invalid one in the address, by message. @type {Map<string, string | null>} */
const replacements = new Map();
/** Messages that are no longer shown. @type {Set<string>} */
const outdated = new Set();

/**
 * @param {HTMLElement} root
 * @param {Record<string, string>} problems
 */
function draw(root, problems) {
  const { searchParams } = new URL(location.href);
  const current = Object.entries(problems).filter(([name, sentence]) => {
    const value = searchParams.get(name);
    if (replacements.has(sentence) && replacements.get(sentence) !== value) outdated.add(sentence);
    return !outdated.has(sentence);
  });
  root.replaceChildren(...current.map(([, sentence]) => {
    const line = document.createElement("p");
    line.textContent = sentence;
    return line;
  }));
}

/** @param {Mounted<{ problems: Record<string, string> }>} mounted */
export default function ({ data: { problems }, parentElement }) {
  const root = find(parentElement, ".link-messages");
  states.get(root)?.();
  const onAddress = () => {
    const { searchParams } = new URL(location.href);
    for (const [name, sentence] of Object.entries(problems)) {
      if (!replacements.has(sentence)) replacements.set(sentence, searchParams.get(name)); // at the first write
    }
    draw(root, problems);
  };
  document.addEventListener("attnviz:address", onAddress);
  const stop = () => document.removeEventListener("attnviz:address", onAddress);
  states.set(root, stop);
  draw(root, problems);
  return stop;
}
