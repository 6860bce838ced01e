// Fills the template of an equation with the texts of a step and a source piece.

/** LaTeX and sentence; null for a step that is not in the payload.
 * @param {EquationPayload} data @param {number | null} step @param {number | null} source
 * @returns {{ latex: string, note: string } | null} */
export function equationAt({ latex, note, steps, ofStep, ofSource, ofCell }, step, source) {
  const row = steps.indexOf(step ?? -1), column = source ?? 0;
  if (row < 0) return null;
  const text = (/** @type {string} */ name) =>
    ofStep[name]?.[row] ?? ofSource[name]?.[column] ?? ofCell[name]?.[row]?.[column] ?? "";
  const filled = (/** @type {string} */ template) => template.replace(/⟦(\w+)⟧/g, (_, name) => text(name));
  return { latex: filled(latex), note: filled(note) };
}
