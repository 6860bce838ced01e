// A view in a page of others: a notebook or a Streamlit app. Its model has the view, as anywidget's front-end modules get
// it, and is told the theme of the page.

import { host } from "./blocks.js";
import { element } from "./elements.js";
import { unpackedView } from "./requests.js";
import { send, viewState } from "./view.js";

const mount = host(".attnviz-guest");

/** Whether the page around an element is dark: its background is, or what the system prefers where it has none. */
function isDark(/** @type {Element} */ el) {
  for (let node = /** @type {Element | null} */ (el); node; node = node.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (alpha > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Draws the view of a model in `el`, and draws it anew when it changes. */
function render(/** @type {{ model: GuestModel, el: HTMLElement }} */ { model, el }) {
  const known = el.querySelector(":scope > .attnviz-guest");
  const root = known instanceof HTMLElement ? known : newRoot(el);
  let end = () => {}, hasEnded = false;
  const draw = async () => {
    const packed = model.get("view");
    if (!packed) return;
    const view = await unpackedView(packed);
    if (hasEnded || packed !== model.get("view")) return;
    root.dataset.theme = view.theme;
    root.lang = view.language;
    const room = root.querySelector("[class*='st-key-room']"); // none yet where this is the first view
    end = mount({ data: [view.blocks, {}, view.payloads], parentElement: root, setStateValue: () => {} });
    if (room?.isConnected) send(room, "answered");
  };
  /** Asks for a what-if; captured, for it is sent to the root of the view. */
  const ask = (/** @type {Event} */ event) => {
    const { detail: whatIf, target } = /** @type {CustomEvent} */ (event);
    const { identity } = viewState(/** @type {Element} */ (target)).view ?? {};
    const number = JSON.parse(model.get("request") || '{ "number": 0 }').number + 1;
    model.set("request", JSON.stringify({ identity, what_if: whatIf, number }));
    model.save_changes();
  };
  const followTheme = () => {
    const theme = isDark(el) ? "dark" : "light";
    if (model.get("theme") === theme) return;
    model.set("theme", theme);
    model.save_changes();
  };
  const themes = new MutationObserver(followTheme);
  for (const page of [document.documentElement, document.body]) themes.observe(page, { attributes: true });
  root.addEventListener("attnviz:try", ask, true);
  model.on("change:view", draw);
  const begin = () => {
    draw();
    followTheme();
  };
  const frame = el.isConnected ? 0 : requestAnimationFrame(begin); // some hosts attach `el` only after this call
  if (!frame) begin();
  return () => {
    hasEnded = true;
    cancelAnimationFrame(frame);
    themes.disconnect();
    root.removeEventListener("attnviz:try", ask, true);
    model.off("change:view", draw);
    setTimeout(end); // once the host has removed the element
  };
}

/** Adds the root of a view. It gets the focus that a control gives up after a click, so that keys step. JupyterLab's
 * shortcuts do not apply in it. */
function newRoot(/** @type {HTMLElement} */ el) {
  const root = el.appendChild(element("div", "attnviz-guest"));
  root.tabIndex = -1;
  root.dataset.lmSuppressShortcuts = "true";
  root.addEventListener("click", () =>
    setTimeout(() => {
      if (document.activeElement === document.body) root.focus({ preventScroll: true });
    }));
  return root;
}

export default { render };
