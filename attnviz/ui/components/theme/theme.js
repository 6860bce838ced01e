// Sets the language of the page and of its skip link, copies the theme's colours, which Streamlit gives to components only, to the whole
// page, and requests a rerun when the visitor changes the theme, so that the figures are redrawn.

import { find, write } from "../elements.js";
import { setLanguage } from "../numbers.js";

const COLOURS = [
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

/** @param {Mounted<{ background: string, language: string, skip: string }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const probe = find(parentElement, ".theme");
  const copyColours = () => {
    const live = getComputedStyle(probe), { style } = document.documentElement;
    const variables = COLOURS.map((name) => `--st-${name}-color`);
    // All are read before one is written: reading after a write recomputes the styles of the whole page.
    const colours = variables.map((variable) => live.getPropertyValue(variable));
    variables.forEach((variable, place) => style.setProperty(variable, colours[place]));
    return colours[COLOURS.indexOf("background")].trim().toLowerCase();
  };
  probe.ontransitionend = () => {
    const background = copyColours();
    if (background !== data.background) setStateValue("changed", background);
  };
  copyColours();
  setLanguage(data.language);
  const skip = document.querySelector("[data-testid=stSkipToContent]"); // Streamlit 1.67 has it in English only
  if (skip) write(skip, data.skip);
  // Setting it, even to its value, recomputes all styles.
  if (document.documentElement.lang !== data.language) document.documentElement.lang = data.language;
}
