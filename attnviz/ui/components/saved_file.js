// Saves a file that the browser makes, or the server, or reports to the caller the sentence with which that refuses to make it.

import { fetchPayload, REFUSED } from "./requests.js";
import { element } from "./elements.js";

/** Saves the file at the address of a link under the link's file name; `report` gets the problem, empty without one.
 * @param {{ href: string, download: string }} link @param {(problem: string) => void} report */
export async function saveFile({ href, download }, report) {
  report("");
  const answer = await fetchPayload(href);
  if (answer.status === REFUSED) return report(await answer.text());
  if (!answer.ok) throw new Error(`${href}: ${answer.status}`);
  saveBlob(await answer.blob(), download);
}

/** Saves a file under a name. The link is not on the page: a click elsewhere would close the box. */
export function saveBlob(/** @type {Blob} */ content, /** @type {string} */ download) {
  const saved = element("a", "", { href: URL.createObjectURL(content), download });
  saved.click();
  URL.revokeObjectURL(saved.href);
}
