// Buttons that save the figures of a view: as PNG, SVG and CSV, made in the browser, and as PDF, made by the server or else
// by printing.

import { missingCharacters } from "../../../figures/glyphs.js";
import { component } from "../component.js";
import { fetchJson } from "../payloads.js";
import { saveBlob, saveFile } from "../saved_file.js";
import { element, find, write } from "../elements.js";
import { fill } from "../numbers.js";
import { loadedPlotly } from "../plots.js";
import { filledAddress } from "../state.js";
import { onMessage } from "../view.js";
import { pageDrawing, printSvg } from "./page_drawing.js";

const PNG_SCALE = 3; // pixels of a PNG per pixel of the figure
const MOST_NAMED = 20; // characters without a font that a message names
const FONT_FAMILIES = ["Source Sans", "Attnviz Sans"]; // Streamlit's, and that of files and notebooks
const SVG_ADDRESS = "data:image/svg+xml,"; // beginning of an SVG data URL

/** The figure of a picture, parsed at the first call. @param {Picture} picture @returns {Figure} */
function figureOf(picture) {
  if (typeof picture.figure === "string") picture.figure = /** @type {Figure} */ (JSON.parse(picture.figure));
  return picture.figure;
}

/** A picture as SVG text with its size in pixels: a figure is drawn by Plotly, a drawing of the page is copied. */
async function svgOf(/** @type {Picture} */ picture) {
  if (picture.drawing) return pageDrawing(picture.drawing);
  const { width, height } = figureOf(picture).layout;
  const address = await (await loadedPlotly()).toImage(figureOf(picture), { format: "svg", width, height });
  return { text: decodeURIComponent(address.slice(SVG_ADDRESS.length)), width, height };
}

// The address of the page's own font, or null.
function fontAddress() {
  const rules = [...document.styleSheets, ...document.adoptedStyleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules];
    } catch {
      return [];
    } // another origin's
  });
  const rule = rules.filter((one) => one instanceof CSSFontFaceRule).find((one) =>
    FONT_FAMILIES.includes(one.style.getPropertyValue("font-family").replace(/["']/g, "")) &&
    !/italic/.test(one.style.getPropertyValue("font-style"))
  );
  const path = rule?.style.getPropertyValue("src").match(/url\(["']?([^"')]+)/)?.[1];
  return path ? new URL(path, rule?.parentStyleSheet?.href ?? document.baseURI) : null;
}

/** The CSS rule that embeds a font as a data URL. */
async function fontRule(/** @type {URL} */ address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const url = `data:font/woff2;base64,${(await answer.bytes()).toBase64()}`;
  return `@font-face { font-family: "${FONT_FAMILIES[0]}"; font-weight: 100 900; src: url(${url}); }`;
}

// An SVG that is drawn as an image (as for a PNG) cannot use the page's fonts, so it gets the font as a data URL. If that
// cannot be fetched, the picture has a fallback font; the next picture tries again.
let fontCss = "";
async function pageFont() {
  const address = fontAddress();
  if (!fontCss && address) fontCss = await fontRule(address).catch(() => "");
  return fontCss;
}

async function pngOf(/** @type {Picture} */ picture) {
  const { text, width, height } = await svgOf(picture);
  const styled = text.replace(/<svg[^>]*>/, `$&<style>${await pageFont()}</style>`);
  const url = URL.createObjectURL(new Blob([styled], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = new OffscreenCanvas(width * PNG_SCALE, height * PNG_SCALE);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return canvas.convertToBlob();
}

const FORMATS = ["png", "svg", "pdf", "csv"];

/** What makes the files of a picture here. @type {Record<string, (picture: Picture) => Blob | Promise<Blob>>} */
const MADE_HERE = {
  png: pngOf,
  svg: async (picture) => new Blob([(await svgOf(picture)).text], { type: "image/svg+xml" }),
  csv: ({ table }) => new Blob(["\ufeff", table], { type: "text/csv" }), // U+FEFF: spreadsheets then read UTF-8
};

/** A button that saves a picture in a format; `report` gets the problem, empty without one. `at` is the payload's
 * address.
 * @param {Picture} picture @param {string} format @param {PictureWords} words @param {string} at
 * @param {(problem: string) => void} report */
function saveButton(picture, format, words, at, report) {
  const button = element("button", "", format.toUpperCase());
  button.ariaLabel = `${picture.title}, ${format.toUpperCase()}`;
  button.onclick = async () => {
    const download = `${picture.file}.${format}`, make = MADE_HERE[format];
    button.ariaBusy = "true";
    report("");
    try {
      if (make) saveBlob(await make(picture), download);
      else if (picture.pdf) await saveFile({ href: `${at}&pdf=${encodeURIComponent(picture.file)}`, download }, report);
      else await printSvg(await svgOf(picture), await pageFont(), button);
      const missing = format === "png" ? missingCharacters((await svgOf(picture)).text) : "";
      if (missing) report(fill(words.boxes, { characters: [...missing].slice(0, MOST_NAMED).join(" ") }));
    } catch {
      report(words.failed);
    }
    button.ariaBusy = null;
  };
  return button;
}

/** @param {Picture} picture @param {PictureWords} words @param {string} at */
function entry(picture, words, at) {
  const problem = element("p", "", { role: "alert" });
  const report = (/** @type {string} */ text) => write(problem, text);
  const buttons = FORMATS.map((format) => saveButton(picture, format, words, at, report));
  return element("div", "picture", element("span", "", picture.title), ...buttons, problem);
}

/** The view whose figures are saved. */
const viewOf = (/** @type {PictureFilesState} */ { data }) => find(document, `.st-key-${data.container}`);

/** Offers the pictures of the current selection of the view. */
async function offer(/** @type {PictureFilesState} */ state) {
  const { root, signal, data: { words, at: address } } = state, at = filledAddress(viewOf(state), address);
  if (at === state.wanted) return;
  state.wanted = at;
  const line = find(root, ".of"), isWanted = () => state.wanted === at && !signal.aborted;
  write(line, words.drawing);
  root.ariaBusy = "true";
  let failed = words.failed;
  const found = await fetchJson(at, true, isWanted, (reason) => failed = reason);
  if (!isWanted()) return;
  root.ariaBusy = null;
  const pictures = found?.pictures ?? [];
  write(line, found ? (pictures.length ? found.of : words.none) : failed);
  find(root, ".pictures").replaceChildren(...pictures.map((/** @type {Picture} */ one) => entry(one, words, at)));
}

export default component(".picture-files", {
  start: (/** @type {PictureFilesState} */ state) =>
    onMessage(viewOf(state), "shown", () => offer(state), state.signal),
  take: (state) => void offer(state),
});
