// Shows messages about invalid parameters of the opened address, each until the visitor chooses another value.

import { element, find, states } from "../shared.js";

/** The value that first replaced each invalid one in the address, by name and value. @type {Map<string, string | null>} */
const replacements = new Map();
/** Names and values whose messages are no longer shown. @type {Set<string>} */
const outdated = new Set();

/** @param {Mounted<{ problems: Record<string, [value: string, message: string]> }>} mounted */
export default function ({ data: { problems }, parentElement }) {
  const root = find(parentElement, ".link-messages");
  states.get(root)?.();
  const draw = () => {
    root.replaceChildren(
      ...Object.entries(problems)
        .filter(([name, [value]]) => !outdated.has(`${name}=${value}`))
        .map(([, [, message]]) => element("p", "", message)),
    );
  };
  const onAddress = () => {
    const { searchParams } = new URL(location.href);
    for (const [name, [value]] of Object.entries(problems)) {
      const id = `${name}=${value}`;
      const current = searchParams.get(name);
      if (!replacements.has(id) && current !== value) replacements.set(id, current); // once the address was rewritten
      if (replacements.has(id) && replacements.get(id) !== current) outdated.add(id);
    }
    draw();
  };
  document.addEventListener("attnviz:address", onAddress);
  const stop = () => document.removeEventListener("attnviz:address", onAddress);
  states.set(root, stop);
  onAddress();
  return stop;
}
