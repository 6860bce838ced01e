// Small heatmaps in groups, each a canvas with a pixel for each number. Where one can be chosen, they are a group of
// radio buttons: Tab goes to the chosen one, an arrow key to the next.

import { component } from "../component.js";
import { sendRequest } from "../outbox/outbox.js";
import { bytesOf, element, findAll, makeOneTabStop, onPress, scrollSmoothly } from "../shared.js";

const NARROW = 640; // pixels of the width below which a group is below the window

/** Shows the words of the hovered cell in the tooltip. @param {HTMLElement} canvas @param {GalleryCell} cell */
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
  const shades = bytesOf(bytes);
  const rows = shades.length / columns;
  const canvas = element("canvas", "cells", { width: columns, height: rows, ariaHidden: "true" });
  showWords(canvas, cell);
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const pixels = context.createImageData(columns, rows);
  shades.forEach((shade, k) => pixels.data.set([shade, shade, shade, 255], 4 * k));
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/** Marks the chosen one. @param {HTMLElement} root @param {string} chosen */
function markChosen(root, chosen) {
  const nodes = findAll(root, "button.cell");
  for (const node of nodes) node.setAttribute("aria-checked", String(node.dataset.code === chosen));
  makeOneTabStop(nodes, nodes.find((node) => node.dataset.code === chosen));
}

/** Chooses one: marks it at once, and sends a request. @param {GalleryState} state @param {HTMLElement} node */
function choose(state, node) {
  const { root } = state, { code } = node.dataset;
  markChosen(root, code ?? "");
  sendRequest(state.data.request, code);
}

/** @type {Record<string, (place: number, across: number) => number>} */
const ARROW_KEYS = {
  ArrowRight: (place) => place + 1,
  ArrowLeft: (place) => place - 1,
  ArrowDown: (place, across) => place + across,
  ArrowUp: (place, across) => place - across,
};

/** @param {GalleryState} state @param {KeyboardEvent} event */
function onKey(state, event) {
  const { root } = state, target = ARROW_KEYS[event.key];
  if (!target || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const nodes = findAll(root, "button.cell");
  const place = nodes.findIndex((node) => node === event.target);
  if (place < 0) return;
  event.preventDefault(); // and do not step
  event.stopPropagation();
  const next = nodes[target(place, Number(nodes[place].dataset.across))];
  if (!next) return;
  next.focus();
  choose(state, next);
}

/** @param {GalleryState} state */
function build(state) {
  const { root, data: { groups, chosen } } = state;
  root.replaceChildren(...groups.map(({ name, caption, across, cells }) => {
    const grid = element("div", "grid", chosen ? { role: "radiogroup", ariaLabel: name } : undefined);
    grid.style.setProperty("--across", String(across));
    for (const cell of cells) {
      const { name, note, label: ariaLabel, code } = cell;
      const below = element("span", "below", element("span", "name", name), " ", element("span", "note", note));
      const properties = { ariaLabel, role: chosen ? "radio" : "img" };
      const node = element(chosen ? "button" : "div", "cell", heatmapCanvas(cell), below, properties);
      Object.assign(node.dataset, { code, across: String(across) });
      if (chosen) {
        onPress(node, () => {
          choose(state, node);
          if (innerWidth < NARROW) scrollSmoothly(document.querySelector(".section.opened")); // it may be below the window
        });
      }
      grid.append(node);
    }
    return element("section", "group", element("h3", "title", name), element("p", "caption", caption), grid);
  }));
}

export default component(".gallery", {
  begin: () => ({ payload: "" }),
  /** @param {GalleryState} state */
  take(state) {
    const { root, data: { groups, chosen } } = state, payload = JSON.stringify(groups) + Boolean(chosen);
    if (payload !== state.payload) {
      state.payload = payload;
      build(state);
      root.onkeydown = (event) => onKey(state, event);
    }
    markChosen(root, chosen);
  },
});
