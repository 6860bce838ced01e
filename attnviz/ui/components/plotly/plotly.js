// Loads Plotly's script once per page, and again if loading failed. The page preloads it, and the browser caches it.

import { element } from "../elements.js";

const SECONDS = 2;

/** @param {Mounted<string>} mounted */
export default function ({ data: src }) {
  if (document.querySelector("script.plotly") || window.Plotly) return;
  const onload = () => dispatchEvent(new Event("attnviz:plotly"));
  const load = () => document.head.append(element("script", "plotly", { src, onload, onerror }));
  const onerror = () => setTimeout(load, 1000 * SECONDS); // without it the page has no figures
  load();
}
