// What a button opens Streamlit puts at the end of the document, the whole page away from that button: whoever opens it by
// the keyboard is taken there, and back to the button on Escape.

const BUTTON = "[data-testid='stPopoverButton'][aria-expanded='false']";
const OPEN = "[data-testid='stPopoverButton'][aria-expanded='true']";
const BOX = "[data-testid='stPopoverBody']";
let opener = null;

function enter(tries = 60) {
  const box = document.querySelector(BOX);
  if (!box || box.contains(document.activeElement)) {
    if (!box && tries > 0) requestAnimationFrame(() => enter(tries - 1));
    return;
  }
  box.tabIndex = -1;
  box.focus({ preventScroll: true }); // its name is read, and Tab goes on to what is in it
}

function onKey(event) {
  const { key, target } = event;
  if (key === "Enter" || key === " ") {
    const button = target.closest?.(BUTTON);
    if (!button) return;
    opener = button;
    enter();
  } else if (key === "Escape" && target.closest?.(BOX)) {
    opener?.focus();
  } else if (key === "Tab" && target.closest?.(BOX)) {
    leave(event, target.closest(BOX));
  }
}

// What can be reached by Tab inside `root`, also within components that are apart from the page.
function stops(root) {
  return [...root.querySelectorAll("*")].flatMap((node) => [
    ...(node.tabIndex >= 0 && !node.disabled && node.checkVisibility() ? [node] : []),
    ...(node.shadowRoot ? stops(node.shadowRoot) : []),
  ]);
}

// Past either end of a box there is only the browser: Tab closes it there and goes on from its button.
function leave(event, box) {
  let here = document.activeElement;
  while (here.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
  const inside = stops(box);
  const end = event.shiftKey ? inside[0] : inside.at(-1);
  if (inside.length && here !== end && !(event.shiftKey && here === box)) return;
  const button = opener?.matches(OPEN) ? opener : document.querySelector(OPEN);
  if (!button) return;
  button.focus();
  button.click();
  event.preventDefault();
}

export default function () {
  document.addEventListener("keydown", onKey, true); // before Streamlit opens or closes the box; adding it twice is once
  return () => document.removeEventListener("keydown", onKey, true);
}
