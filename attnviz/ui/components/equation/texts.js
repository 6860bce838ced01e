// What an equation says at a step, for a source piece: its template with the texts of both.

/**
 * LaTeX and sentence; null for a step that the browser was not given.
 * @param {EquationPayload} data
 * @param {number | null} step
 * @param {number | null} source
 * @returns {{ latex: string, note: string } | null}
 */
export function equationAt({ latex, note, steps, ofStep, ofSource, ofCell }, step, source) {
  const row = steps.indexOf(step ?? -1), column = source ?? 0;
  if (row < 0) return null;
  const found = new Map([
    ...Object.entries(ofStep).map(([name, texts]) => /** @type {const} */ ([name, texts[row]])),
    ...Object.entries(ofSource).map(([name, texts]) => /** @type {const} */ ([name, texts[column]])),
    ...Object.entries(ofCell).map(([name, texts]) => /** @type {const} */ ([name, texts[row][column]])),
  ]);
  /** @param {string} template */
  const filled = (template) => template.replace(/⟦(\w+)⟧/g, (_, name) => found.get(name) ?? "");
  return { latex: filled(latex), note: filled(note) };
}
