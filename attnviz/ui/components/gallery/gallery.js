// Small heatmaps in groups, each a canvas with a pixel for each number. Where one can be chosen, they are a group of
// radio buttons: Tab goes to the chosen one, an arrow key to the next.

import { sendRequest } from "../outbox/outbox.js";
import { NARROW } from "../payloads.js";
import {
  element,
  find,
  findAll,
  makeOneTabStop,
  onPress,
  prefersReducedMotion,
  setLanguage,
  states,
} from "../shared.js";

/**
 * Shows the words of the hovered cell in the tooltip.
 * @param {HTMLElement} canvas
 * @param {GalleryCell} cell
 */
function showWords(canvas, { rows_of: rows, columns_of: columns }) {
  if (!rows.length) return;
  canvas.onpointermove = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    /** @type {(words: string[], at: number) => string} */
    const word = (words, at) => words[Math.max(0, Math.min(Math.floor(at * words.length), words.length - 1))];
    const title = `${word(rows, (event.clientY - top) / height)} ← ${word(columns, (event.clientX - left) / width)}`;
    if (canvas.title !== title) canvas.title = title;
  };
}

/** @param {GalleryCell} cell */
function heatmapCanvas(cell) {
  const { bytes, columns } = cell;
  const shades = Uint8ClampedArray.from(atob(bytes), (sign) => sign.charCodeAt(0));
  const canvas = element("canvas", "cells"), rows = shades.length / columns;
  Object.assign(canvas, { width: columns, height: rows });
  canvas.setAttribute("aria-hidden", "true");
  showWords(canvas, cell);
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const pixels = context.createImageData(columns, rows);
  shades.forEach((shade, k) => pixels.data.set([shade, shade, shade, 255], 4 * k));
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/**
 * @param {GalleryCell} cell
 * @param {string} chosen
 */
function cellElement(cell, chosen) {
  const node = element(chosen ? "button" : "div", "cell");
  const below = element("span", "below");
  below.append(element("span", "name", cell.name), " ", element("span", "note", cell.note));
  node.append(heatmapCanvas(cell), below);
  node.dataset.code = cell.code;
  node.setAttribute("aria-label", cell.label);
  node.setAttribute("role", chosen ? "radio" : "img");
  return node;
}

/**
 * Marks the chosen one.
 * @param {HTMLElement} root
 * @param {string} chosen
 */
function markChosen(root, chosen) {
  const nodes = findAll(root, "button.cell");
  for (const node of nodes) node.setAttribute("aria-checked", String(node.dataset.code === chosen));
  makeOneTabStop(nodes, nodes.find((node) => node.dataset.code === chosen));
}

/**
 * Chooses one: marks it at once, and sends a request.
 * @param {HTMLElement} root
 * @param {GalleryState} state
 * @param {HTMLElement} node
 */
function choose(root, state, node) {
  const { code } = node.dataset;
  markChosen(root, code ?? "");
  sendRequest(state.request, code);
}

/** Scrolls to the section of the chosen one, which may be below the window. */
function scrollToOpened() {
  document.querySelector(".section.opened")?.scrollIntoView({
    block: "start",
    behavior: prefersReducedMotion() ? "auto" : "smooth",
  });
}

/** @type {Record<string, (place: number, across: number) => number>} */
const ARROW_KEYS = {
  ArrowRight: (place) => place + 1,
  ArrowLeft: (place) => place - 1,
  ArrowDown: (place, across) => place + across,
  ArrowUp: (place, across) => place - across,
};

/**
 * @param {HTMLElement} root
 * @param {GalleryState} state
 * @param {KeyboardEvent} event
 */
function onKey(root, state, event) {
  const target = ARROW_KEYS[event.key];
  if (!target || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const nodes = findAll(root, "button.cell");
  const place = nodes.findIndex((node) => node === event.target);
  if (place < 0) return;
  event.preventDefault(); // and do not step
  event.stopPropagation();
  const next = nodes[target(place, Number(nodes[place].dataset.across))];
  if (!next) return;
  next.focus();
  choose(root, state, next);
}

/**
 * @param {HTMLElement} root
 * @param {GalleryState} state
 * @param {GalleryPayload} payload
 */
function build(root, state, { groups, chosen }) {
  root.replaceChildren(...groups.map(({ name, caption, across, cells }) => {
    const group = element("section", "group"), grid = element("div", "grid");
    grid.style.setProperty("--across", String(across));
    if (chosen) {
      grid.setAttribute("role", "radiogroup");
      grid.setAttribute("aria-label", name);
    }
    for (const cell of cells) {
      const node = cellElement(cell, chosen);
      node.dataset.across = String(across);
      if (chosen) {
        onPress(node, () => {
          choose(root, state, node);
          if (innerWidth < NARROW) scrollToOpened();
        });
      }
      grid.append(node);
    }
    group.append(element("h3", "title", name), element("p", "caption", caption), grid);
    return group;
  }));
}

/** @param {Mounted<GalleryPayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".gallery");
  setLanguage(data.language);
  /** @type {GalleryState} */
  const state = states.get(root) ?? { payload: "", request: "" };
  states.set(root, state);
  state.request = data.request;
  const payload = JSON.stringify(data.groups) + Boolean(data.chosen);
  if (payload !== state.payload) {
    state.payload = payload;
    build(root, state, data);
    root.onkeydown = (event) => onKey(root, state, event);
  }
  markChosen(root, data.chosen);
  return () => states.delete(root);
}
