// A file of what is on show in a view, which the server makes once it is asked for.

import { fill, find } from "../shared.js";
import { selectionOf } from "../state.js";

/** @param {Mounted<{ label: string, at: string, file: string, room: string }>} mounted */
export default function ({ data, parentElement }) {
  const link = find(parentElement, "a", HTMLAnchorElement);
  link.textContent = data.label;
  link.download = data.file;
  const address = () => {
    const room = document.querySelector(`.st-key-${data.room}`);
    return new URL(fill(data.at, { selection: room ? selectionOf(room) : "" }), document.baseURI).href;
  };
  link.href = address();
  link.onclick = () => {
    link.href = address();
  };
  return undefined;
}
