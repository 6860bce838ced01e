// A link to another page waits until the server has heard what was typed on this one. Streamlit sends a text a moment after
// its box was left, with the page that it stands on: where a link had already been followed, the server would come back to
// that page; where it is busy it would hear of the last thing alone, and the text would be lost.

const BOXES = ".stTextArea textarea, .stTextInput input";
const LINKS = "[data-testid=stPageLink-NavLink]";
const STATE = "data-test-script-state"; // what the server does, as the page's root element says
const LONGEST = 10_000; // milliseconds to wait for a server that is busy
const SOON = 500; // milliseconds within which Streamlit has sent a text, and says that the server is at it

/** What stood in the box that is typed in before it was; null where in none. @type {string | null} */
let before = null;
/** Whether the server has still to hear of a text. */
let unheard = false;
/** The link that waits. @type {HTMLElement | null} */
let waiting = null;

/** The server is at what was typed, or there was nothing for it to hear. */
function heard() {
  unheard = false;
  const link = waiting;
  waiting = null;
  if (link?.isConnected) link.click();
}

/** A text goes to the server: that has heard of it once it begins anew, or has come to an end of what it was at. */
function goes() {
  const app = find(document, ".stApp"), busy = app.getAttribute(STATE) !== "notRunning";
  unheard = true;
  const watch = new MutationObserver(() => done());
  const nothing = setTimeout(() => done(), busy ? LONGEST : SOON);
  const done = () => {
    watch.disconnect();
    clearTimeout(nothing);
    heard();
  };
  watch.observe(app, { attributes: true, attributeFilter: [STATE] });
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLTextAreaElement | HTMLInputElement}
 */
const isBox = (target) => target instanceof Element && target.matches(BOXES);

document.addEventListener("focusin", ({ target }) => {
  if (isBox(target)) before = target.value;
}, true);
document.addEventListener("focusout", ({ target }) => {
  if (isBox(target) && target.value !== before) goes();
}, true);
document.addEventListener("keydown", ({ target, key, ctrlKey, metaKey }) => {
  if (key !== "Enter" || !isBox(target) || target.value === before) return;
  if (target instanceof HTMLTextAreaElement && !ctrlKey && !metaKey) return; // another line
  before = target.value;
  goes();
}, true);
document.addEventListener("click", (click) => {
  const link = click.target instanceof Element && click.target.closest(LINKS);
  if (!unheard || !(link instanceof HTMLElement) || click.ctrlKey || click.metaKey || click.shiftKey) return;
  click.preventDefault();
  click.stopImmediatePropagation();
  waiting = link;
}, true);

export default function () {}
