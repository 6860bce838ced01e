// A download link, for the current selection of a view where the address depends on it; the server makes the file when it is requested.

import { saveFile } from "../saved_file.js";
import { find, write } from "../elements.js";
import { filledAddress } from "../state.js";

/** @param {Mounted<{ label: string, at: string, file: string, container: string }>} mounted */
export default function ({ data, parentElement }) {
  const link = find(parentElement, "a", HTMLAnchorElement);
  Object.assign(link, { textContent: data.label, download: data.file });
  const address = () => {
    const container = data.container && document.querySelector(`.st-key-${data.container}`);
    const at = container ? filledAddress(container, data.at) : data.at;
    return new URL(at, document.baseURI).href;
  };
  link.href = address();
  link.onclick = (event) => {
    event.preventDefault();
    link.href = address();
    saveFile(link, (problem) => write(find(parentElement, ".problem"), problem));
  };
  link.onkeydown = (event) => {
    if (event.key !== " ") return; // as a button
    event.preventDefault();
    link.click();
  };
}
