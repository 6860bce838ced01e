// Fills the part that the figures of all steps share with the values of one of them; `attnviz/figures/encoding.py` writes both.

import { MISSING } from "../../../figures/constants.js";
import { bytesOf } from "../numbers.js";

/** A deep copy of the common part with the values in its slots, which Plotly may modify.
 * @param {any} template @param {any[]} values @returns {any} */
export function filled(template, values) {
  if (Array.isArray(template)) return template.map((part) => filled(part, values));
  if (template === null || typeof template !== "object") return template;
  if (template.slot !== undefined) return filled(values[template.slot], values);
  if (template.strips) return unpackedStrips(template);
  return Object.fromEntries(Object.entries(template).map(([name, part]) => [name, filled(part, values)]));
}

/** Unpacks rows of numbers: little-endian int16 in base64, times `scale`.
 * @param {{ scale: number, size: number, strips: string }} packed @returns {Float32Array[]} */
function unpackedStrips({ scale, size, strips }) {
  const packed = new Int16Array(bytesOf(strips).buffer);
  const numbers = Float32Array.from(packed, (one) => (one === MISSING ? NaN : one * scale));
  return Array.from({ length: numbers.length / size }, (_, row) => numbers.subarray(row * size, (row + 1) * size));
}
