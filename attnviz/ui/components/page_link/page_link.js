// A way to another page. In this window the server is asked for the page, after all that was asked for before.

import { ask } from "../outbox/outbox.js";
import { find } from "../shared.js";

/** @param {Mounted<{ path: string, title: string, here: boolean }>} mounted */
export default function ({ data: { path, title, here }, parentElement }) {
  const link = find(parentElement, "a", HTMLAnchorElement);
  link.textContent = title;
  link.href = new URL(path ? `?page=${path}` : "?", document.baseURI).href;
  link.dataset.page = path;
  if (here) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
  link.onclick = (click) => {
    if (click.ctrlKey || click.metaKey || click.shiftKey || click.button !== 0) return;
    click.preventDefault();
    const { activeElement } = document;
    // Streamlit takes over what was typed once its box is left.
    if (activeElement instanceof HTMLElement && activeElement.matches("textarea, input")) activeElement.blur();
    ask("page", path);
  };
  return undefined;
}
