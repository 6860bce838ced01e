// A view in a page of others: a notebook or a Streamlit app. Its model has the view, as anywidget's front-end modules get
// it, and is told the theme of the page.

import { host } from "./blocks.js";
import { embedPayloads } from "./requests.js";
import { element, find } from "./shared.js";
import { onMessage, send, viewState } from "./view.js";

const mount = host(
  attnvizModule("files.js").default,
  (path) => Promise.resolve(attnvizModule(`ui/components/${path}`)),
  ".attnviz-guest",
);

/**
 * Whether the page around an element is dark: its background is, or what the system prefers where it has none.
 * @param {Element} el
 */
function isDark(el) {
  for (let node = /** @type {Element | null} */ (el); node; node = node.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (alpha > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Draws the view of a model in `el`, and draws it anew when it changes.
 * @param {{ model: GuestModel, el: HTMLElement }} given
 */
export function render({ model, el }) {
  const known = el.querySelector(":scope > .attnviz-guest");
  const root = known instanceof HTMLElement ? known : el.appendChild(element("div", "attnviz-guest"));
  const theme = isDark(el) ? "dark" : "light";
  const draw = () => {
    const view = JSON.parse(model.get("view") || "{}");
    if (!view.blocks) return;
    root.dataset.theme = view.theme;
    embedPayloads(view.payloads);
    mount({ data: [view.blocks], parentElement: root, setStateValue: () => {} });
    const room = find(root, "[class*='st-key-room']");
    if (watched !== room) onMessage(room, "try", ({ detail }) => ask(detail));
    else send(room, "answered");
    watched = room;
  };
  /** @type {Element | null} */
  let watched = null;
  let asked = 0;
  /** Asks for a what-if. @param {WhatIf} whatIf */
  const ask = (whatIf) => {
    const identity = watched && viewState(watched).view?.identity;
    asked += 1;
    model.set("request", JSON.stringify({ view: "", identity, what_if: whatIf, number: asked }));
    model.save_changes();
  };
  model.on("change:view", draw);
  draw();
  if (model.get("theme") !== theme) {
    model.set("theme", theme);
    model.save_changes();
  }
  return () => model.off("change:view", draw);
}
