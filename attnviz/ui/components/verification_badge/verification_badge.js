// The verification badge of the current step: whether all its numbers match when recomputed. A click opens the list
// of checks; Escape, Tab or a click elsewhere closes the list.

import { component } from "../component.js";
import { fetchAhead } from "../payloads.js";
import { element, find, write } from "../shared.js";

/** @param {"li" | "th" | "td"} tag @param {string[]} texts */
const cells = (tag, texts) => texts.map((text) => element(tag, "", text));

/** @param {HTMLElement} root @param {boolean} isOpen */
function setOpen(root, isOpen) {
  const box = find(root, ".receipt");
  box.hidden = !isOpen;
  find(root, ".badge").setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) return;
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
}

export default component(".verification", {
  /** @param {VerificationState} state */
  start({ root, signal }) {
    const badge = find(root, ".badge");
    badge.onclick = () => setOpen(root, Boolean(find(root, ".receipt").hidden));
    document.addEventListener("pointerdown", (event) => {
      if (!event.composedPath().includes(root)) setOpen(root, false);
    }, { signal });
    document.addEventListener("keydown", (event) => {
      if (!["Escape", "Tab"].includes(event.key) || find(root, ".receipt").hidden) return;
      event.stopPropagation(); // only closes the box and focuses the button
      event.preventDefault();
      setOpen(root, false);
      badge.focus();
    }, { signal, capture: true });
  },
  /** Writes the list of checks as plain text, since it may quote the visitor. */
  read({ root }, { holds, summary, about, wrong, names, rows }) {
    root.classList.toggle("fails", !holds);
    write(find(root, ".sign"), holds ? "✓" : "✗");
    write(find(root, ".summary"), summary);
    find(root, ".receipt").ariaLabel = about;
    write(find(root, ".about"), about);
    find(root, "ul").replaceChildren(...cells("li", wrong.map((text) => `✗ ${text}`)));
    find(root, "thead tr").replaceChildren(...cells("th", names));
    find(root, "tbody").replaceChildren(...rows.map((row) => element("tr", "", ...cells("td", row))));
    find(root, ".badge", HTMLButtonElement).disabled = !rows.length;
    if (!rows.length) setOpen(root, false);
  },
  show: (/** @type {VerificationState} */ state) => fetchAhead(state, state.data.steps),
});
