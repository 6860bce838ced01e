// Keeps the file of an uploaded lesson in the tab, so that a reload opens it again: with a content, stores it; without
// one, sends what is stored.

import { sendRequest } from "../outbox/outbox.js";

const STORED = "attnviz-lesson-file";

/** @param {Mounted<{ content: string | null }>} mounted */
export default function ({ data: { content } }) {
  let stored = null;
  try {
    if (content === null) stored = sessionStorage.getItem(STORED);
    else sessionStorage.setItem(STORED, content);
  } catch {
    // The browser stores nothing: the lesson lasts as long as the page.
  }
  if (content === null) sendRequest("lesson", stored);
}
