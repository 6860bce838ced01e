// Says what of a link could not be shown, until something else is chosen in its place.

import { find, states } from "../shared.js";

/** What the address had first in the place of each value that cannot be, by sentence. @type {Map<string, string | null>} */
const instead = new Map();
/** Sentences that are said no more. @type {Set<string>} */
const over = new Set();

/**
 * @param {HTMLElement} root
 * @param {Record<string, string>} problems
 */
function say(root, problems) {
  const { searchParams } = new URL(location.href);
  const told = Object.entries(problems).filter(([name, sentence]) => {
    const value = searchParams.get(name);
    if (instead.has(sentence) && instead.get(sentence) !== value) over.add(sentence);
    return !over.has(sentence);
  });
  root.replaceChildren(...told.map(([, sentence]) => {
    const line = document.createElement("p");
    line.textContent = sentence;
    return line;
  }));
}

/** @param {Mounted<{ problems: Record<string, string> }>} mounted */
export default function ({ data: { problems }, parentElement }) {
  const root = find(parentElement, ".link-told");
  states.get(root)?.();
  const hear = () => {
    const { searchParams } = new URL(location.href);
    for (const [name, sentence] of Object.entries(problems)) {
      if (!instead.has(sentence)) instead.set(sentence, searchParams.get(name)); // once it was written for the first time
    }
    say(root, problems);
  };
  document.addEventListener("attnviz:address", hear);
  const stop = () => document.removeEventListener("attnviz:address", hear);
  states.set(root, stop);
  say(root, problems);
  return stop;
}
