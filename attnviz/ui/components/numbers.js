// Texts and numbers in the language of the page, and numbers unpacked from base64.

/** The bytes that are written in base64. */
export const bytesOf = (/** @type {string} */ base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

/** Rows of `width` numbers, from little-endian float32 in base64. */
export function unpackRows(/** @type {string} */ base64, /** @type {number} */ width) {
  const numbers = new Float32Array(bytesOf(base64).buffer);
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}

/** Fills the values into the {placeholders} of a template.
 * @param {string} template @param {Record<string, string | number>} values */
export const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** The language in which numbers are written, its decimal separator, and zero per cent. */
const format = { language: "en", mark: ".", zero: "0\u00a0%" };

/** Sets the language in which numbers are written. Components call it before they write some: they mount in any order.
 */
export function setLanguage(/** @type {string} */ language) {
  if (language === format.language) return; // making a format takes a millisecond
  const mark = new Intl.NumberFormat(language).format(0.5)[1] ?? ".";
  const zero = language === "en" ? "0 %" : new Intl.NumberFormat(language, { style: "percent" }).format(0);
  Object.assign(format, { language, mark, zero: zero.replace(/\s/u, "\u00a0") });
}

/** A number with `places` decimal places in the format of the page's language, with U+2212 as minus. What rounds to
 * zero has no minus. */
export function number(/** @type {number} */ value, /** @type {number} */ places) {
  const rounded = value.toFixed(places);
  const minus = Number(rounded) === 0 ? "" : "\u2212";
  return rounded.replace("-", minus).replace(".", format.mark);
}

/** A share of 1 in per cent in the format of the page's language, as `format_share` of the server writes it: with a
 * no-break space before the sign, also in English, and 0 and 100 only where exact. */
export function percent(/** @type {number} */ share, /** @type {number} */ places = 0) {
  const least = 1 / 10 ** (places + 2);
  const written = (/** @type {number} */ exact) => format.zero.replace("0", number(100 * exact, places));
  if (share > 0 && share < least / 2) return `<\u00a0${written(least)}`;
  return share < 1 && share >= 1 - least / 2 ? `>\u00a0${written(1 - least)}` : written(share);
}
