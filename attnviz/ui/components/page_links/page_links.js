// The links between the app's pages, and Streamlit's link that skips them. A click requests the page from the server,
// after all earlier requests.

import { pageAddress } from "../address.js";
import { sendRequest } from "../outbox/outbox.js";
import { element, find, findAll, tabStops } from "../elements.js";

/** Follows a link of the navigation. */
function requestPage(/** @type {MouseEvent} */ click, /** @type {string} */ path) {
  if (click.ctrlKey || click.metaKey || click.shiftKey || click.button !== 0) return;
  click.preventDefault();
  sendRequest("page", path);
}

/** Makes Streamlit's skip link (1.67) go to the first control after the links: it goes to the box that scrolls, which
 * has the links too, and which it makes a tab stop. */
function correctSkipLink() {
  find(document, ".stMain").tabIndex = -1;
  for (const link of findAll(document, "[data-testid='stSkipToContent']")) {
    link.onclick = (click) => {
      click.preventDefault();
      click.stopPropagation(); // Streamlit would focus that box
      const own = tabStops(find(document, ".st-key-masthead")), all = tabStops(find(document, ".stMain"));
      all.find((node, place) => !own.includes(node) && place > all.indexOf(own[0]))?.focus();
    };
  }
}

/** @param {Mounted<{ pages: { path: string, title: string }[], current: string, label: string }>} mounted */
export default function ({ data: { pages, current, label }, parentElement }) {
  const nav = find(parentElement, "nav");
  nav.setAttribute("aria-label", label);
  while (nav.children.length < pages.length) nav.append(element("a", ""));
  pages.forEach(({ path, title }, place) => {
    const link = nav.children[place];
    if (!(link instanceof HTMLAnchorElement)) return;
    const ariaCurrent = path === current ? "page" : null;
    Object.assign(link, { textContent: title, href: pageAddress(path).href, ariaCurrent });
    link.dataset.page = path;
    link.onclick = (click) => requestPage(click, path);
  });
  correctSkipLink();
}
