// What goes between the browser and the server of a view. Components tell it what a visitor chose, and which part of the
// page is to be drawn for it; it tells them what the server says, once the view has it. All that the server is told goes
// through here: of several components that speak at once, Streamlit hears one.

import { afterPaint, find, isOnPage, pageLink, states } from "../shared.js";
import { listenIn, send, shown, viewOf } from "../view.js";
import { isBehind, isInAddress, writeAddress } from "./address.js";

const LATE = 80; // milliseconds to wait for another key before the server is told
const SENT = 1000; // milliseconds within which Streamlit has sent what it was told, whenever the server answers

/**
 * The server has answered, or has heard at least: another page that was asked for meanwhile may come.
 * @param {MessengerState} state
 */
function answered(state) {
  clearTimeout(state.sent);
  state.unanswered = false;
  const next = state.next;
  state.next = undefined;
  next?.click();
}

/**
 * @param {HTMLElement} root
 * @returns {MessengerState}
 */
function start(root) {
  const state = /** @type {MessengerState} */ ({ told: {} });
  const tell = () => {
    clearTimeout(state.late);
    state.tell("chosen", state.told);
    state.unanswered = true;
    clearTimeout(state.sent);
    state.sent = setTimeout(() => answered(state), SENT);
    state.told = {};
  };
  const now = () => {
    clearTimeout(state.late);
    if (isBehind(state)) state.late = setTimeout(now, LATE);
    else tell();
  };
  /** @param {Partial<Told>} more */
  const later = (more) => {
    state.told = { ...state.told, ...more };
    clearTimeout(state.late);
    state.late = setTimeout(now, LATE);
  };
  const ends = [
    listenIn(root, "tell", ({ detail }) => {
      if (detail.tour !== undefined) state.wentBack = undefined; // where the tour goes is an entry of its own, at once
      later({ choice: { ...state.told.choice, ...detail } });
    }),
    listenIn(root, "try", ({ detail }) => {
      state.told = { ...state.told, choice: { ...state.told.choice, what_if: detail } };
      now(); // another translation is to come of it: nobody waits for another key
    }),
    listenIn(root, "behind", ({ detail }) => later({ parts: [...state.told.parts ?? [], detail] })),
  ];
  /** The page is gone through by Back or Forward. */
  const back = () => {
    state.wentBack = performance.now();
    delete state.told.choice?.tour;
    if (location.pathname !== here) clearTimeout(state.late); // it would have Streamlit come back
  };
  /**
   * Before another page is asked for, the server hears what was chosen here. Afterwards would be too late: Streamlit
   * sends along which page it comes from, and the server would come back to that.
   * @param {MouseEvent} click
   */
  const leave = (click) => {
    const link = pageLink(click);
    if (!link) return;
    if (state.told.choice || state.told.parts) tell();
    if (!state.unanswered) return;
    click.preventDefault();
    click.stopImmediatePropagation();
    state.next = link;
  };
  const here = location.pathname;
  window.addEventListener("popstate", back);
  window.addEventListener("click", leave, true); // before any other program has the server asked for the page
  state.stop = () => {
    clearTimeout(state.late);
    clearTimeout(state.sent);
    for (const end of ends) end();
    window.removeEventListener("popstate", back);
    window.removeEventListener("click", leave, true);
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<ServerRecord>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = find(parentElement, ".messenger");
  // For a moment Streamlit has in a new room what stands in the one before, and that may be the last to speak.
  if (!viewOf(root).classList.contains(`st-key-${data.room}`)) return undefined;
  /** @type {MessengerState} */
  const state = states.get(root) ?? start(root);
  state.tell = setTriggerValue;
  // What was chosen in another translation is not for this one.
  const other = shown(root).server?.identity !== data.identity;
  if (other) {
    clearTimeout(state.late);
    state.told = {};
  }
  shown(root).server = data;
  send(root, "server");
  state.address = data.address;
  if (isInAddress(data.address)) state.wentBack = undefined;
  if (state.unanswered) answered(state);
  const note = () => states.has(root) && isOnPage(data.path) && writeAddress(state, state.address);
  if (other) afterPaint(note, true); // a new entry takes as long as a frame, which is the translation's
  else note();
  return state.stop;
}
