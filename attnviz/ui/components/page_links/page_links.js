// A link to another page, followed while the server has still to hear of something: the server is asked for the page, in a
// message that holds all that was typed and chosen on this one. What Streamlit sends when it follows a link holds none of
// it, and where the server has not begun with the message before by then, it takes this one in its place.

const BOXES = ".stTextArea textarea, .stTextInput input, .stNumberInput input"; // of them the server hears once they are left

/** The page on which something was typed last. @type {string | null} */
let typedOn = null;
/** Asks the server for a page. @type {(name: "page", path: string) => void} */
let ask;

const atRest = () => find(document, ".stApp").getAttribute("data-test-script-state") === "notRunning";

document.addEventListener("input", ({ target }) => {
  if (target instanceof Element && target.matches(BOXES)) typedOn = location.pathname;
}, true);
document.addEventListener("click", (click) => {
  const link = pageLink(click);
  if (!link || (typedOn !== location.pathname && atRest())) return;
  click.preventDefault();
  click.stopImmediatePropagation();
  typedOn = null;
  const path = link.getAttribute("href") ?? ""; // the first page's is empty
  afterPaint(() => ask("page", path), true); // by then Streamlit has what was typed
}, true);

/** @param {Mounted<null>} mounted */
export default function ({ setTriggerValue }) {
  ask = setTriggerValue;
}
