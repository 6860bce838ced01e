// Finds the characters that no font of this machine has: in a picture they appear as boxes.

const SIZE = 32; // pixels of the square in which a character is drawn
const UNASSIGNED = "\u{10FFFF}"; // no font has it: drawn as the box
const MOST = 2000; // characters that are drawn to look at them

/** The pixels of a character. */
function pixelsOf(/** @type {OffscreenCanvasRenderingContext2D} */ pen, /** @type {string} */ character) {
  pen.clearRect(0, 0, SIZE, SIZE);
  pen.fillText(character, SIZE / 4, (3 * SIZE) / 4);
  return pen.getImageData(0, 0, SIZE, SIZE).data.join();
}

/** The characters of `text` that no font has, each once; marks, spaces and controls have no picture of their own. */
export function missingCharacters(/** @type {string} */ text) {
  const pen = new OffscreenCanvas(SIZE, SIZE).getContext("2d", { willReadFrequently: true });
  if (!pen) return "";
  pen.font = `${SIZE / 2}px sans-serif`;
  const box = pixelsOf(pen, UNASSIGNED);
  const characters = [...new Set(text)].filter((one) => /[^\0-\u024F\p{M}\p{Cc}\p{Cf}\p{Z}]/u.test(one));
  return characters.slice(0, MOST).filter((one) => pixelsOf(pen, one) === box).join("");
}
