// Says which language the page is in, and hands Streamlit's live colours to the whole page, which knows them only inside
// components, and asks the server to draw the figures again once the visitor changes the theme.

import { fill, find, findAll, speak } from "../shared.js";

/** @typedef {HTMLElement & { nameHelp?: () => void }} Probe */

const NAMES = [
  "background",
  "secondary-background",
  "text",
  "border",
  "primary",
  "green",
  "violet",
  "orange",
  "red",
  "blue",
];

/**
 * Streamlit's question marks have names in English only; React gives one its English name again when its label changes.
 * @param {string} template
 */
function nameHelp(template) {
  const start = "Help for ";
  for (const mark of findAll(document, `[aria-label^="${start}"], [data-helps]`)) {
    const label = mark.getAttribute("aria-label") ?? "";
    if (label.startsWith(start)) mark.dataset.helps = label.slice(start.length);
    mark.setAttribute("aria-label", fill(template, { name: mark.dataset.helps ?? "" }));
  }
}

/** @param {Mounted<{ background: string, language: string, help: string }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const probe = /** @type {Probe} */ (find(parentElement, ".theme"));
  const publish = () => {
    const live = getComputedStyle(probe);
    for (const name of NAMES) {
      const variable = `--st-${name}-color`;
      document.documentElement.style.setProperty(variable, live.getPropertyValue(variable));
    }
    return live.getPropertyValue("--st-background-color").trim().toLowerCase();
  };
  probe.ontransitionend = () => {
    const background = publish();
    if (background !== data.background) setStateValue("changed", background);
  };
  publish();
  speak(data.language);
  if (!probe.nameHelp) document.addEventListener("focusin", () => probe.nameHelp?.());
  probe.nameHelp = () => nameHelp(data.help);
  for (const wait of [1000, 4000, 12000]) setTimeout(probe.nameHelp, wait); // the rest of the page comes later
}
