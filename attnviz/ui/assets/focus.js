// What a button opens Streamlit puts at the end of the document, the whole page away from that button: whoever opens it by
// the keyboard is taken there, and back to the button on Escape.

const BUTTON = "[data-testid='stPopoverButton'][aria-expanded='false']";
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

function onKey({ key, target }) {
  if (key === "Enter" || key === " ") {
    const button = target.closest?.(BUTTON);
    if (!button) return;
    opener = button;
    enter();
  } else if (key === "Escape" && target.closest?.(BOX)) {
    opener?.focus();
  }
}

export default function () {
  document.addEventListener("keydown", onKey, true); // before Streamlit opens or closes the box; adding it twice is once
  return () => document.removeEventListener("keydown", onKey, true);
}
