// Keeps the file of an uploaded lesson in the tab, so that a reload opens it again: with a content, stores it; without
// one, sends what is stored.

import { sendRequest } from "../outbox/outbox.js";

const STORED = "attnviz-lesson-file";

/** What is stored; null where there is nothing, or the browser stores nothing. */
function storedContent() {
  try {
    return sessionStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** @param {Mounted<{ content: string | null }>} mounted */
export default function ({ data: { content } }) {
  if (content === null) {
    sendRequest("lesson", storedContent());
    return;
  }
  try {
    sessionStorage.setItem(STORED, content);
  } catch {
    // The lesson lasts as long as the page.
  }
}
