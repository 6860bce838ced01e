// A frame with the page of a lesson. The page is loaded again only if its address changes: it holds the answers.

import { find } from "../shared.js";

/** @param {Mounted<{ at: string, title: string }>} mounted */
export default function ({ data, parentElement }) {
  const frame = find(parentElement, "iframe", HTMLIFrameElement), at = new URL(data.at, document.baseURI).href;
  frame.title = data.title;
  if (frame.src !== at) frame.src = at;
  return undefined;
}
