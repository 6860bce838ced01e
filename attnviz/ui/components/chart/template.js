// Fills the common template of a figure with the values of one step; `attnviz/figures/template.py` writes both.

import { MISSING } from "../../../figures/constants.js";

/**
 * A deep copy of a template with the values in its slots, which Plotly may modify.
 * @param {any} template
 * @param {Record<string, any>} values
 * @returns {any}
 */
export function filled(template, values) {
  if (Array.isArray(template)) return template.map((part) => filled(part, values));
  if (template === null || typeof template !== "object") return template;
  const { slot, choices, strips } = template;
  if (strips) return unpacked(template);
  if (slot === undefined) {
    return Object.fromEntries(Object.entries(template).map(([name, part]) => [name, filled(part, values)]));
  }
  const value = values[slot];
  if (!choices) return filled(value, {});
  return Array.isArray(value) ? value.map((one) => choices[one]) : choices[value];
}

/**
 * Unpacks rows of numbers: little-endian int16 in base64, times `scale`.
 * @param {{ scale: number, size: number, strips: string }} packed
 * @returns {Float32Array[]}
 */
function unpacked({ scale, size, strips }) {
  const bytes = Uint8Array.from(atob(strips), (sign) => sign.charCodeAt(0));
  const whole = new Int16Array(bytes.buffer);
  const numbers = Float32Array.from(whole, (one) => (one === MISSING ? NaN : one * scale));
  return Array.from({ length: numbers.length / size }, (_, row) => numbers.subarray(row * size, (row + 1) * size));
}
