// Scrolls a list, and the page, back to where they were when the visitor pressed something in the list, such as a row that
// opened another page.

import { findAll } from "../elements.js";

/** By the name of the list. @type {Map<string, { list: number, page: number }>} */
const places = new Map();

const scrollable = (/** @type {HTMLElement} */ box) =>
  findAll(box, "*").find((node) =>
    node.scrollHeight > node.clientHeight && ["auto", "scroll"].includes(getComputedStyle(node).overflowY)
  );

/** @param {Mounted<{ container: string, name: string }>} mounted */
export default function ({ data: { container, name } }) {
  const [box] = findAll(document, `.st-key-${container}`), [page] = findAll(document, "[data-testid='stMain']");
  if (!box || !page) return undefined;
  const listening = new AbortController(), { signal } = listening;
  const kept = places.get(name);
  const restore = () => {
    const list = scrollable(box);
    if (!kept || (kept.list && !(list && list.scrollHeight - list.clientHeight >= kept.list))) return;
    if (list) list.scrollTop = kept.list;
    page.scrollTop = kept.page;
    places.delete(name);
    observer.disconnect();
  };
  const observer = new MutationObserver(restore); // the table is drawn later
  if (kept) {
    observer.observe(box, { attributes: true, childList: true, subtree: true });
    restore();
  }
  const keep = () => {
    observer.disconnect();
    places.set(name, { list: scrollable(box)?.scrollTop ?? 0, page: page.scrollTop });
  };
  for (const press of ["pointerdown", "keydown"]) box.addEventListener(press, keep, { signal, capture: true });
  return () => {
    observer.disconnect();
    listening.abort();
  };
}
