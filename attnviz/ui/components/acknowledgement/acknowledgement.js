// Runs at the end of each server run: sets the page's history entry and address parameters, passes to the request queue
// the numbers of the requests that the server has handled, and announces new messages to screen readers.

import { pageDrawn, setPage } from "../address.js";
import { find, findAll, write } from "../elements.js";
import { acknowledge, sendRequest } from "../outbox/outbox.js";
import { setVisitor } from "../requests.js";

/** The messages of the last run. @type {string[]} */
let shown = [];

/** Announces the messages that the last run did not show: Streamlit's texts are in no live region. */
function announceMessages(/** @type {Element} */ region) {
  const texts = findAll(document, ".stMain [data-testid='stText']").map((node) => node.innerText.trim());
  write(region, texts.filter((text) => !shown.includes(text)).join(" "));
  shown = texts;
}

/** @param {Mounted<{ handledByTab: Record<string, number>, serverId: string, page: PagePayload }>} mounted */
export default function ({ data, parentElement }) {
  pageDrawn(data.page.path);
  setPage(data.page);
  acknowledge(data.handledByTab, data.serverId);
  setVisitor(data.serverId);
  requestAnimationFrame(() => announceMessages(find(parentElement, ".announced"))); // once Streamlit has drawn them
  if (data.page.other !== null) sendRequest("page", data.page.other);
}
