// Exports an SVG drawing of the page as a standalone SVG: a copy with inline styles, in print colours, below its title.
// Prints an SVG on paper of its size.

import { addElement, svgElement } from "../diagram/svg.js";

const INHERITED = ["font-family", "font-size", "font-style", "font-weight", "letter-spacing"];
const PAINTED = ["fill", "stroke", "stop-color"];
const STYLED = ["paint-order", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity"];
const FONT = "Source Sans, Segoe UI, sans-serif";
const SIDE = 16, TITLE = 84, LINES = [27, 50, 70]; // pixels beside the drawing, above it, and of the lines of its title

/** A colour in a notation that every program reads: browsers compute mixed colours as color(), oklab() or lab(). */
function plainColour(/** @type {string} */ colour) {
  if (!/^color|^oklab|^lab/.test(colour)) return colour;
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  if (!pen) return colour;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`;
}

/** Writes the computed styles of `node` and its descendants into their attributes; removes what is not displayed. */
function writeStyles(/** @type {Element} */ node) {
  const style = getComputedStyle(node), declarations = [];
  if (style.display === "none") return node.remove();
  for (const name of PAINTED) declarations.push(`${name}: ${plainColour(style.getPropertyValue(name))}`);
  for (const name of STYLED) declarations.push(`${name}: ${style.getPropertyValue(name)}`);
  if (/^(text|tspan)$/.test(node.tagName)) {
    for (const name of INHERITED) declarations.push(`${name}: ${style.getPropertyValue(name)}`);
  }
  for (const inside of [...node.children]) writeStyles(inside);
  node.setAttribute("style", declarations.join("; "));
  for (const name of ["class", "role", "tabindex", ...PAINTED, ...STYLED]) node.removeAttribute(name);
}

/** The drawing as a standalone SVG; throws where the page has none.
 * @param {PageDrawing} drawing @returns {{ text: string, width: number, height: number }} */
export function pageDrawing({ box, narrowest, colours, title, alt }) {
  const shown = document.querySelector(`${box} svg.drawing`);
  if (!(shown instanceof SVGSVGElement) || !shown.parentElement) throw new Error(`there is no drawing in ${box}`);
  const copy = /** @type {SVGSVGElement} */ (shown.cloneNode(true));
  copy.style.cssText = "position: absolute; visibility: hidden";
  for (const [name, colour] of Object.entries(colours)) copy.style.setProperty(`--${name}`, colour);
  shown.parentElement.append(copy); // so that the page's styles apply to it, except for the colours
  for (const inside of [...copy.children]) writeStyles(inside);
  copy.remove();
  const { width: own, height: deep } = shown.viewBox.baseVal;
  const width = Math.max(own, narrowest) + 2 * SIDE, height = deep + TITLE + SIDE;
  const file = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "main-svg" });
  addElement(file, "title", {}, alt);
  addElement(file, "rect", { width, height, fill: colours.paper });
  const lines = addElement(file, "text", { class: "gtitle", "font-family": FONT });
  title.forEach(([text, fill, size, weight], k) => {
    const style = { class: "line", x: SIDE, y: LINES[k], fill, "font-size": size, "font-weight": weight };
    addElement(lines, "tspan", style, text);
  });
  addElement(file, "g", { transform: `translate(${SIDE} ${TITLE})` }).append(...copy.children);
  return { text: new XMLSerializer().serializeToString(file), width, height };
}

/** Opens the browser's print dialog for an SVG on paper of its size, where a visitor saves it as PDF.
 * @param {{ text: string, width: number, height: number }} drawn @param {string} style of the page that is printed
 * @param {Element} near after which the page to print is put: a click elsewhere would close the box */
export async function printSvg({ text, width, height }, style, near) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0";
  const paper = `@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 } svg { display: block }`;
  frame.srcdoc = `<!DOCTYPE html><style>${style} ${paper}</style>${text}`;
  await new Promise((load) => {
    frame.onload = load;
    near.after(frame);
  });
  const page = frame.contentWindow;
  if (!page) throw new Error("there is no page to print");
  await page.document.fonts.ready;
  page.onafterprint = () => frame.remove();
  page.print();
}
