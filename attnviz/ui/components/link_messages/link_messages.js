// Shows messages about invalid parameters of the opened address, each until the visitor chooses another value. The server
// reports those of the query, the views those of the fragment.

import { component } from "../component.js";
import { fragmentParameters, invalidParameters } from "../address.js";
import { element, onPageMessage } from "../elements.js";
import { fill } from "../numbers.js";

const LONGEST = 40; // largest length of a reported value, in characters

/** The value that first replaced each invalid one in the address, by name and value. @type {Map<string, string | null>} */
const replacements = new Map();
/** Names and values whose messages are no longer shown. @type {Set<string>} */
const outdated = new Set();

/** @param {ComponentState & { data: { problems: Record<string, InvalidParameter>, words: Words } }} state */
function take({ root, data: { problems, words } }) {
  const { searchParams } = new URL(location.href), fragment = fragmentParameters();
  const all = { ...problems, ...Object.fromEntries(invalidParameters) }, shown = [];
  for (const [name, { value, values, ...range }] of Object.entries(all)) {
    const id = `${name}=${value}`, current = searchParams.get(name) ?? fragment.get(name);
    if (!replacements.has(id) && current !== value) replacements.set(id, current); // once the address was rewritten
    if (replacements.has(id) && replacements.get(id) !== current) outdated.add(id);
    if (outdated.has(id)) continue;
    const short = value.length > LONGEST ? `${value.slice(0, LONGEST - 1)}…` : value, listed = values.join(", ");
    const text = fill(values.length ? words.choice : words.number, { name, value: short, listed, ...range });
    shown.push(element("p", "", text));
  }
  root.replaceChildren(...shown);
}

export default component(".link-messages", {
  start: (state) => onPageMessage("address", () => take(state), state.signal),
  take,
});
