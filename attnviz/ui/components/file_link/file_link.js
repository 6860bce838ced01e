// A download link for the current selection of a view; the server makes the file when it is requested.

import { fill, find } from "../shared.js";
import { selectionOf } from "../state.js";

/** @param {Mounted<{ label: string, at: string, file: string, container: string }>} mounted */
export default function ({ data, parentElement }) {
  const link = find(parentElement, "a", HTMLAnchorElement);
  link.textContent = data.label;
  link.download = data.file;
  const address = () => {
    const container = document.querySelector(`.st-key-${data.container}`);
    const selection = container ? selectionOf(container) : "";
    return new URL(fill(data.at, { selection }), document.baseURI).href;
  };
  link.href = address();
  link.onclick = () => {
    link.href = address();
  };
  return undefined;
}
