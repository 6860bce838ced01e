// Saves a file that the server makes, or reports to the caller the sentence with which the server refuses to make it.

import { fetchPayload, REFUSED } from "./requests.js";

/**
 * Saves the file at the address of a link under the link's file name; `report` gets the problem, empty without one.
 * @param {HTMLAnchorElement} link
 * @param {(problem: string) => void} report
 */
export async function saveFile(link, report) {
  const { href, download } = link;
  report("");
  const answer = await fetchPayload(href);
  if (answer.status === REFUSED) return report(await answer.text());
  if (!answer.ok) throw new Error(`${href}: ${answer.status}`);
  const saved = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(await answer.blob()),
    download,
  });
  link.after(saved); // in the same place: a click elsewhere would close the box
  saved.click();
  saved.remove();
  URL.revokeObjectURL(saved.href);
  return undefined;
}
