// A frame with the page of a lesson, which gets the language as the fragment of its address. The page is loaded again
// only if the rest of the address changes: it holds the answers.

import { fetchPayload } from "../requests.js";
import { find } from "../shared.js";

/** @param {Mounted<{ at: string, title: string, language: string }>} mounted */
export default function ({ data, parentElement }) {
  const frame = find(parentElement, "iframe", HTMLIFrameElement), at = new URL(data.at, document.baseURI).href;
  const shown = `${at}#${data.language}`;
  frame.title = data.title;
  if (frame.dataset.at !== at) {
    // First, since a frame cannot send the server a request that it does not know.
    fetchPayload(at, { method: "HEAD" }).finally(() => {
      if (frame.dataset.at === at) frame.src = frame.dataset.shown ?? shown;
    }).catch(() => {});
  } else if (frame.dataset.shown !== shown) frame.contentWindow?.location.replace(shown); // without a history entry
  Object.assign(frame.dataset, { at, shown });
  return undefined;
}
