// Sets the language of the page, copies Streamlit's theme colours, which only components have, to the whole page, and
// requests a rerun when the visitor changes the theme, so that the figures are redrawn.

import { find, speak } from "../shared.js";

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

/** @param {Mounted<{ background: string, language: string }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const probe = find(parentElement, ".theme");
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
}
