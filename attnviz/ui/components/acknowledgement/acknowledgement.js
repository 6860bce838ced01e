// Runs at the end of each server run: sets the page's history entry and address parameters, and passes to the request
// queue the numbers of the requests that the server has handled.

import { pageDrawn, setPage } from "../address.js";
import { acknowledge, sendRequest } from "../outbox/outbox.js";
import { setVisitor } from "../requests.js";

/** @param {Mounted<{ handledByTab: Record<string, number>, serverId: string, page: PagePayload }>} mounted */
export default function ({ data }) {
  pageDrawn(data.page.path);
  setPage(data.page);
  acknowledge(data.handledByTab, data.serverId);
  setVisitor(data.serverId);
  if (data.page.other !== null) sendRequest("page", data.page.other);
}
