// Focuses the first control after the masthead, which is what the skip link does. Fetched when it is first followed.

import { tabStops } from "../popover_focus/popover_focus.js";
import { find } from "../shared.js";

/** Focuses the first control after the masthead: title, links between pages, language switch. */
export function focusContents() {
  const own = tabStops(find(document, ".st-key-masthead")), all = tabStops(find(document, ".stMain"));
  all.find((node, place) => !own.includes(node) && place > all.indexOf(own[0]))?.focus();
}
