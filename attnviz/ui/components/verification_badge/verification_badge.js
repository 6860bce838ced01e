// The verification badge of the current step: whether all its numbers match when recomputed. A click opens the list
// of checks.

import { component } from "../component.js";
import { element, find, writeTexts } from "../elements.js";
import { openBeside } from "../terms/card.js";

/** @param {"li" | "th" | "td"} tag @param {string[]} texts */
const cells = (tag, texts) => texts.map((text) => element(tag, "", text));

export default component(".verification", {
  /** @param {VerificationState} state */
  start: ({ root }) => openBeside(find(root, ".badge", HTMLButtonElement), find(root, ".receipt")),
  /** Writes the list of checks as plain text, since it may quote the visitor. */
  read({ root }, { holds, summary, about, wrong, names, rows }) {
    root.classList.toggle("fails", !holds);
    writeTexts(root, { sign: holds ? "✓" : "✗", summary, about });
    find(root, "ul").replaceChildren(...cells("li", wrong.map((text) => `✗ ${text}`)));
    find(root, "thead tr").replaceChildren(...cells("th", names));
    find(root, "tbody").replaceChildren(...rows.map((row) => element("tr", "", ...cells("td", row))));
    find(root, ".badge", HTMLButtonElement).disabled = !rows.length;
    if (!rows.length) find(root, ".receipt").hidePopover();
  },
});
