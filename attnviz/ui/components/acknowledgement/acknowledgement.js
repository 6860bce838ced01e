// Acknowledges, at the end of a run, the requests that the server has handled.

import { givePage } from "../address.js";
import { acknowledge } from "../outbox/outbox.js";

/** @param {Mounted<{ handled: Record<string, number>, memory: string, page: PagePayload }>} mounted */
export default function ({ data }) {
  givePage(data.page.entry, data.page.parameters);
  acknowledge(data.handled, data.memory);
  return undefined;
}
