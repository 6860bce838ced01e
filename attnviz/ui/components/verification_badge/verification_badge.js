// The verification badge of the current step: whether all its numbers match when recomputed. A click opens the list
// of checks; Escape, Tab or a click elsewhere closes the list.

import { fetchAhead, payloadOf } from "../payloads.js";
import { drawSoon, find, onMessages, onStop, states, write } from "../shared.js";

/**
 * @param {string} tag
 * @param {string[]} texts
 */
function cells(tag, texts) {
  return texts.map((text) => {
    const cell = document.createElement(tag);
    cell.textContent = text;
    return cell;
  });
}

/**
 * Writes the list of checks, as plain text, since it may quote the visitor.
 * @param {HTMLElement} root
 * @param {VerificationPayload} payload
 */
function writeChecks(root, { about, wrong, names, rows }) {
  find(root, ".receipt").setAttribute("aria-label", about);
  write(find(root, ".about"), about);
  find(root, "ul").replaceChildren(...cells("li", wrong.map((text) => `✗ ${text}`)));
  find(root, "thead tr").replaceChildren(...cells("th", names));
  find(root, "tbody").replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    line.append(...cells("td", row));
    return line;
  }));
}

/**
 * @param {HTMLElement} root
 * @param {VerificationState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  if (!payload) return;
  fetchAhead(root, state, state.steps);
  if (payload === state.payload) return;
  state.payload = payload;
  root.classList.toggle("fails", !payload.holds);
  write(find(root, ".sign"), payload.holds ? "✓" : "✗");
  write(find(root, ".summary"), payload.summary);
  writeChecks(root, payload);
  find(root, ".badge", HTMLButtonElement).disabled = !payload.rows.length;
  if (!payload.rows.length) setOpen(root, false);
}

/**
 * @param {HTMLElement} root
 * @param {boolean} isOpen
 */
function setOpen(root, isOpen) {
  const box = find(root, ".receipt");
  box.hidden = !isOpen;
  find(root, ".badge").setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) return;
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
}

/**
 * @param {HTMLElement} root
 * @returns {VerificationState}
 */
function start(root) {
  const state = /** @type {VerificationState} */ ({});
  onMessages(root, state, ["step", "words", "options"], () => drawSoon(root, state, draw));
  const badge = find(root, ".badge");
  badge.onclick = () => setOpen(root, Boolean(find(root, ".receipt").hidden));
  const controller = new AbortController();
  const options = { signal: controller.signal };
  document.addEventListener("pointerdown", (event) => {
    if (!event.composedPath().includes(root)) setOpen(root, false);
  }, options);
  document.addEventListener("keydown", (event) => {
    if (!["Escape", "Tab"].includes(event.key) || find(root, ".receipt").hidden) return;
    event.stopPropagation(); // only closes the box and focuses the button
    event.preventDefault();
    setOpen(root, false);
    badge.focus();
  }, { ...options, capture: true });
  onStop(state, () => controller.abort());
  return state;
}

/** @param {Mounted<(PayloadAddress | VerificationPayload) & { steps: number }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".verification");
  /** @type {VerificationState} */
  const state = states.get(root) ?? start(root);
  Object.assign(state, { data, steps: data.steps });
  drawSoon(root, state, draw);
  return state.stop;
}
