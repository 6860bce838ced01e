// Small heatmaps in groups, each a canvas with a pixel for each number. Where one can be chosen, they are a group of
// radio buttons: Tab goes to the chosen one, an arrow key to the next.

import { component } from "../component.js";
import { drawPixels, element, findAll, onPress, scrollSmoothly } from "../elements.js";
import { makeOneTabStop, pressByArrow } from "../keyboard.js";
import { bytesOf } from "../numbers.js";
import { sendRequest } from "../outbox/outbox.js";

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

function heatmapCanvas(/** @type {GalleryCell} */ cell) {
  const canvas = element("canvas", "cells", { ariaHidden: "true" });
  showWords(canvas, cell);
  drawPixels(canvas, cell.columns, Array.from(bytesOf(cell.bytes), (shade) => [shade, shade, shade, 255]));
  return canvas;
}

/** Marks the chosen one. */
function markChosen(/** @type {HTMLElement} */ root, /** @type {string} */ chosen) {
  const nodes = findAll(root, "button.cell");
  for (const node of nodes) node.setAttribute("aria-checked", String(node.dataset.code === chosen));
  makeOneTabStop(nodes, nodes.find((node) => node.dataset.code === chosen));
}

function build(/** @type {GalleryState} */ state) {
  const { root, data: { groups, chosen } } = state;
  root.replaceChildren(...groups.map(({ name, caption, across, cells }) => {
    const group = chosen ? { role: "radiogroup", ariaLabel: name } : {};
    const grid = element("div", "grid", { ...group, style: { "--across": String(across) } });
    for (const cell of cells) {
      const { name, note, label: ariaLabel, code } = cell;
      const below = element("span", "below", element("span", "name", name), " ", element("span", "note", note));
      const properties = { ariaLabel, role: chosen ? "radio" : "img", dataset: { code } };
      const node = element(chosen ? "button" : "div", "cell", heatmapCanvas(cell), below, properties);
      if (chosen) {
        onPress(node, () => {
          markChosen(root, code); // at once
          sendRequest(state.data.request, code);
          if (innerWidth < NARROW) scrollSmoothly(document.querySelector(".section.opened")); // it may be below the window
        });
        node.onkeydown = (event) => pressByArrow(event, findAll(root, "button.cell"), across);
      }
      grid.append(node);
    }
    return element("section", "group", element("h3", "title", name), element("p", "caption", caption), grid);
  }));
}

export default component(".gallery", {
  begin: () => ({ payload: "" }),
  take(/** @type {GalleryState} */ state) {
    const { root, data: { groups, chosen } } = state, payload = JSON.stringify(groups) + Boolean(chosen);
    if (payload !== state.payload) {
      state.payload = payload;
      build(state);
    }
    markChosen(root, chosen);
  },
});
