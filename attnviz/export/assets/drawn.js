// Helpers of the page of a lesson (lesson.js): finding and making elements, drawing figures,
// language buttons, unpacking data, and filling what figures of all steps, languages and themes share.

import { filled } from "../../ui/components/chart/template.js";

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
 * Cache of what `oneOf` has made.
 * @type {WeakMap<Shared, Map<string | number, any>>}
 */
const made = new WeakMap();

/**
 * One of several that share a part: the part with what is different in `name`.
 * @param {Shared} shared
 * @param {string | number} name
 * @param {string} [slot]
 * @returns {any}
 */
export function oneOf(shared, name, slot) {
  const known = made.get(shared) ?? new Map();
  made.set(shared, known);
  if (!known.has(name)) known.set(name, filled(shared.template, shared.values[name], slot));
  return known.get(name);
}

/**
 * The pictures of a page in a language and the current theme.
 * @param {Shared} shared
 * @param {string} language
 */
export const inVariant = (shared, language) =>
  oneOf(oneOf(shared, darkTheme.matches ? "dark" : "light", "theme"), language, "language");

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
