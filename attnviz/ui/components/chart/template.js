// What the pictures of all steps have in common, filled with the numbers of one.

/**
 * A template with its values in the places for them, as `attnviz/figures/template.py` fills it: everything in it is new,
 * so that Plotly may keep it.
 * @param {any} template
 * @param {Record<string, any>} values
 * @returns {any}
 */
function filled(template, values) {
  if (Array.isArray(template)) return template.map((part) => filled(part, values));
  if (template === null || typeof template !== "object") return template;
  const { slot, choices } = template;
  if (slot === undefined) {
    return Object.fromEntries(Object.entries(template).map(([name, part]) => [name, filled(part, values)]));
  }
  const value = values[slot];
  if (!choices) return value;
  return Array.isArray(value) ? value.map((one) => choices[one]) : choices[value];
}
