// A link to another page, followed while the server has still to hear of something: the server is asked for the page, in a
// message that holds all that was typed and chosen on this one. What Streamlit sends when it follows a link holds none of
// it, and where the server has not begun with the message before by then, it takes this one in its place.

import { afterPaint, find, isOnPage, pageLink } from "../shared.js";

const BOXES = ".stTextArea textarea, .stTextInput input, .stNumberInput input"; // of them the server hears once they are left

const PATIENT = 1500; // milliseconds between two looks whether a link was followed

/** The page on which something was typed last. @type {string | null} */
let typedOn = null;
/** The page that is left, from when another was asked for until that is in the address. @type {string | null} */
let left = null;
/** Asks the server for a page. @type {(name: "page", path: string) => void} */
let ask;

const atRest = () => find(document, ".stApp").getAttribute("data-test-script-state") === "notRunning";

// Before it goes to another page, the server has Streamlit take all out of the address of the one that is left, as an entry
// of the browser's history of its own: Back would lead to that, and not to what was on show.
const { pushState } = history;
history.pushState = (state, unused, url) => {
  const { pathname, search } = new URL(url ?? "", location.href);
  if (pathname !== left) left = null;
  else if (!search) return;
  pushState.call(history, state, unused, url);
};

document.addEventListener("input", ({ target }) => {
  if (target instanceof Element && target.matches(BOXES)) typedOn = location.pathname;
}, true);
/** Asks for the page of the link that was clicked last again, where nothing has come of it. @type {number | undefined} */
let again;

/** @param {string} path */
function leaveFor(path) {
  left = location.pathname;
  ask("page", path);
}

/**
 * Has the server asked, again, for the page at `path` once nothing has come of the link: what it is told as it begins with
 * a page may be taken by it for told before, or in place of something else.
 * @param {string} path
 */
function insist(path) {
  const from = location.pathname;
  again = setTimeout(() => {
    if (location.pathname !== from) return;
    if (atRest()) leaveFor(path);
    insist(path);
  }, PATIENT);
}

window.addEventListener("popstate", () => clearTimeout(again));
document.addEventListener("click", (click) => {
  const link = pageLink(click);
  if (!link) return;
  const path = link.getAttribute("href") ?? ""; // the first page's is empty, and so no address of its own
  clearTimeout(again);
  if (!isOnPage(path)) insist(path);
  if (typedOn !== location.pathname && atRest()) return;
  click.preventDefault();
  click.stopImmediatePropagation();
  typedOn = null;
  afterPaint(() => leaveFor(path), true); // by then Streamlit has what was typed
}, true);

/** @param {Mounted<null>} mounted */
export default function ({ setTriggerValue }) {
  ask = setTriggerValue;
}
