// Keeps the file of an uploaded lesson in the tab, so that a reload opens it again: with a content, stores it; without
// one, sends what is stored.

import { sendRequest } from "../outbox/outbox.js";
import { keep, kept } from "../storage.js";

const STORED = "attnviz-lesson-file";

/** @param {Mounted<{ content: string | null }>} mounted */
export default function ({ data: { content } }) {
  if (content === null) sendRequest("lesson", kept("sessionStorage", STORED));
  else keep("sessionStorage", STORED, content);
}
