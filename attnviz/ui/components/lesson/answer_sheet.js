// The answer sheet of a lesson as CSV (RFC 4180) that spreadsheets open: a byte-order mark, and quoted cells.

/** @param {string[][]} rows */
export function answerSheet(rows) {
  return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** A quoted cell. Before a text that a spreadsheet would compute as a formula, it has an apostrophe.
 * @param {string} text */
function cell(text) {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+\-]?[\d.,\s]+%?$/.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}
