// Helpers of the exported pages (lecture.js, chapters.js and lesson.js): finding and making elements, drawing figures,
// language buttons, unpacking data, and applying the stored differences of another language or theme.

import { ROW_FRAME_WIDTH } from "../../figures/constants.js";

const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false, responsive: false };
export const darkTheme = window.matchMedia("(prefers-color-scheme: dark)");

/** @param {string} id */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`there is no ${id}`);
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} Kind
 * @param {Kind} kind
 * @param {Partial<HTMLElementTagNameMap[Kind]>} properties
 */
export function element(kind, properties) {
  return Object.assign(document.createElement(kind), properties);
}

/**
 * Unpacks data: gzipped JSON in base64.
 * @param {string} packed
 * @returns {Promise<any>}
 */
export function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/**
 * Applies `change` to `base`: [new] replaces it, an object has changes of its properties, undefined is no change.
 * @param {Json} base
 * @param {Json | undefined} change
 * @returns {Json}
 */
export function withChanges(base, change) {
  if (change === undefined) return base;
  if (Array.isArray(change)) return change[0];
  if (typeof base !== "object" || typeof change !== "object" || !base || !change) return base;
  const whole = /** @type {{ [key: string]: Json }} */ (Array.isArray(base) ? [...base] : { ...base });
  for (const [key, inside] of Object.entries(change)) whole[key] = withChanges(whole[key], inside);
  return /** @type {Json} */ (whole);
}

/**
 * @param {HTMLElement} chart
 * @param {Figure} figure
 * @param {Shape[]} [shapes]
 */
export function draw(chart, { data, layout }, shapes) {
  const { alt, narrowest, widest } = layout.meta;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", alt);
  chart.style.minWidth = `${narrowest}px`;
  chart.style.maxWidth = widest ? `${widest}px` : "";
  chart.style.height = `${layout.height}px`;
  return Plotly.react(chart, data, { ...layout, width: chart.clientWidth, shapes: shapes ?? layout.shapes }, CONFIG);
}

/**
 * The layout's own shapes, and a frame around the row of the step.
 * @param {Layout} layout
 * @param {number} step
 */
export function shapesWithFrame({ meta, xaxis, shapes = [] }, step) {
  const row = meta.rows?.[step] ?? null;
  if (row === null) return shapes;
  const [x0, x1] = xaxis.range;
  return [...shapes, {
    type: "rect",
    x0,
    x1,
    y0: row - 0.5,
    y1: row + 0.5,
    line: { color: meta.frame, width: ROW_FRAME_WIDTH },
  }];
}

/**
 * Marks the button of the current choice.
 * @param {string} id
 * @param {string} chosen
 */
export function markPressed(id, chosen) {
  for (const button of byId(id).querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === chosen));
  }
}

/**
 * Makes a button for each language.
 * @param {Record<string, string>} names
 * @param {(code: string) => void} onChoice
 */
export function addLanguageButtons(names, onChoice) {
  for (const [code, name] of Object.entries(names)) {
    const button = element("button", {
      type: "button",
      lang: code,
      value: code,
      textContent: code.toUpperCase(),
      title: name,
    });
    button.onclick = () => onChoice(code);
    byId("languages").append(button);
  }
}
