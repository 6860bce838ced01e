// Keyboard focus of popovers: those of views, and Streamlit's, which are at the end of the document, far from their button.
// Opening one by the keyboard moves the focus into it, Escape moves it back to the button, and Tab beyond either end closes the popover. A
// choice that closes it moves the focus back, too.

import { findAll, focused, tabStops } from "../elements.js";

const BUTTON = "[data-testid='stPopoverButton'][aria-expanded='false'], .opener:has(+ .opened:not(:popover-open))";
/** Selector of the buttons of open popovers. */
export const OPEN = "[data-testid='stPopoverButton'][aria-expanded='true'], .opener:has(+ .opened:popover-open)";
const BOX = "[data-testid='stPopoverBody'], .opened:popover-open";

/** @type {HTMLElement | null} */
let opener = null;
/** Holds the opener and what replaces it. @type {Element | null} */
let container = null;

/** Focuses the button that replaces the opener, which closes the popover (`close_popover` in controls.py). */
const replacing = new MutationObserver(() => {
  const button = container?.querySelector(BUTTON);
  if (opener?.isConnected || !(button instanceof HTMLElement)) return;
  replacing.disconnect();
  if (document.activeElement === document.body) button.focus();
});

/** Makes an opening popover a tab stop, as it may only have text that scrolls, and focuses it after a key. */
function reachPopover(/** @type {boolean} */ byKey, /** @type {number} */ tries = 60) {
  const [box] = findAll(document, BOX);
  if (!box) {
    if (tries > 0) requestAnimationFrame(() => reachPopover(byKey, tries - 1));
    return;
  }
  box.tabIndex = 0;
  // Screen readers read its name, and Tab goes to its contents.
  if (byKey && !box.contains(document.activeElement)) box.focus({ preventScroll: true });
}

function onPointer(/** @type {MouseEvent} */ { target }) {
  replacing.disconnect();
  if (target instanceof Element && target.closest(BUTTON)) reachPopover(false);
}

function onKey(/** @type {KeyboardEvent} */ event) {
  const { key } = event;
  const target = event.target instanceof Element ? event.target : null;
  if (key === "Enter" || key === " ") {
    const button = target?.closest(BUTTON);
    if (!(button instanceof HTMLElement)) return;
    opener = button;
    container = button.closest(".stVerticalBlock");
    if (container) replacing.observe(container, { childList: true, subtree: true });
    reachPopover(true);
  } else if (key === "Escape" && target?.closest(BOX)) {
    opener?.focus();
  } else if (key === "Tab") {
    const box = target?.closest(BOX);
    if (box) closeAtEnd(event, box);
  }
}

/** Beyond either end of a popover is only the browser: there Tab closes it and goes on from its button. */
function closeAtEnd(/** @type {KeyboardEvent} */ event, /** @type {Element} */ box) {
  const here = focused(), inside = tabStops(box);
  const end = event.shiftKey ? inside[0] : inside.at(-1);
  if (inside.length && here !== end && !(event.shiftKey && here === box)) return;
  const button = opener?.matches(OPEN) ? opener : findAll(document, OPEN)[0];
  if (!button) return;
  button.focus();
  button.click();
  event.preventDefault();
}

export default function () {
  // Before Streamlit opens or closes the popover; adding them twice has no effect.
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("pointerdown", onPointer, true);
  return () => {
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("pointerdown", onPointer, true);
  };
}
