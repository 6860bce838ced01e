// A frame with the page of a lesson, which gets the language as the fragment of its address. The page is loaded again
// only if the rest of the address changes: it holds the answers.

import { find } from "../shared.js";

/** @param {Mounted<{ at: string, title: string, language: string }>} mounted */
export default function ({ data, parentElement }) {
  const frame = find(parentElement, "iframe", HTMLIFrameElement), at = new URL(data.at, document.baseURI).href;
  const shown = `${at}#${data.language}`;
  frame.title = data.title;
  if (frame.dataset.at !== at) frame.src = shown;
  else if (frame.dataset.shown !== shown) frame.contentWindow?.location.replace(shown); // without a history entry
  Object.assign(frame.dataset, { at, shown });
  return undefined;
}
