// The requests of this tab. Streamlit sends component state again with every message, also after a lost connection, so a
// request stays in the state until the server has acknowledged its number; the server handles each number once.

import { find } from "../shared.js";

/** Tells this tab from others of the same visit. */
const tab = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
const CONNECTED = "CONNECTED";

let seq = 0;
/** The number of the last request whose handling this tab has seen. */
let seen = 0;
/** What tells the server from one before it, which has forgotten the visit; empty until it is known. */
let memory = "";
/** @type {AnyRequest[]} */
let waiting = [];
/** @type {((name: string, value: unknown) => void) | null} */
let post = null;
/** The number of the request that was made as the connection was there again, and is not handled yet; 0 where none is. */
let reconnecting = 0;
/** @type {Set<(handled: number) => void>} */
const listeners = new Set();
/** @type {Set<() => void>} */
const before = new Set();

// A copy, for Streamlit sends nothing that equals what it sent before.
const send = () => post?.("sent", { tab, memory, requests: [...waiting] });

/**
 * Asks the server for something; returns the number of the request.
 * @param {string} name
 * @param {unknown} value
 */
export function ask(name, value) {
  for (const prepare of before) prepare();
  seq += 1;
  waiting.push({ seq, name, value });
  // Streamlit (1.67) sends what changes within one tick in one message, which runs the fragment of the first widget alone.
  setTimeout(send, 0);
  return seq;
}

/**
 * Calls `prepare` before each request is sent.
 * @param {() => void} prepare
 */
export const beforeAsking = (prepare) => before.add(prepare);

/**
 * Calls `hear` each time the page was drawn, with the number of the last request that was handled before.
 * @param {(handled: number) => void} hear
 */
export const onAcknowledged = (hear) => {
  listeners.add(hear);
  return () => listeners.delete(hear);
};

/** The number of the last request whose handling this tab has seen. */
export const handledUntil = () => seen;

/** @type {((memory: string) => void) | null} */
let reconnect = null;

/**
 * Calls `resume` as the connection is there again after it was lost, with what tells the server before.
 * @param {(memory: string) => void} resume
 */
export const onReconnected = (resume) => reconnect = resume;

/**
 * The server has drawn the page with what was asked for.
 * @param {Record<string, number>} handled by tab
 * @param {string} by what tells the server from others
 */
export function acknowledge(handled, by) {
  const last = handled[tab] ?? 0;
  if (!reconnecting || last >= reconnecting) [memory, reconnecting] = [by, 0];
  seen = last;
  waiting = waiting.filter((one) => one.seq > last);
  for (const hear of listeners) hear(last);
}

/** What a press of a button does in the browser alone, by its key. @type {Map<string, () => void>} */
const own = new Map();

/**
 * Has a press of the button of Streamlit's with that key call `act`, and ask the server for nothing.
 * @param {string} key
 * @param {() => void} act
 */
export function onPress(key, act) {
  own.set(key, act);
  return () => {
    if (own.get(key) === act) own.delete(key);
  };
}

/**
 * The key of the button of Streamlit's that a click presses; null where it presses none that makes a request.
 * @param {Event} event
 */
function pressedKey({ target }) {
  const button = target instanceof Element && target.closest("[data-testid='stButton'] button");
  if (!(button instanceof HTMLButtonElement) || button.disabled) return null;
  const [, key] = /(?:^|\s)st-key-(\S+)/.exec(button.closest("[class*='st-key-']")?.className ?? "") ?? [];
  return key && !key.startsWith("sign_") ? key : null; // to sign in is Streamlit's
}

// A button's trigger is lost where Streamlit supersedes its run (streamlit #9100): its press is a request instead.
document.addEventListener("click", (click) => {
  const key = pressedKey(click);
  if (key === null) return;
  click.preventDefault();
  click.stopImmediatePropagation();
  const act = own.get(key);
  if (act) act();
  else ask("press", key);
}, true);

/** @param {HTMLElement} notice */
function watchConnection(notice) {
  const app = find(document, ".stApp");
  let lost = false;
  new MutationObserver(() => {
    const connected = app.getAttribute("data-test-connection-state") === CONNECTED;
    notice.hidden = connected;
    if (connected && lost) {
      const before = memory;
      memory = ""; // what is sent from here on, with what was typed meanwhile, is for whatever server is there
      reconnect?.(before);
      reconnecting = seq;
    }
    lost = !connected;
  }).observe(app, { attributeFilter: ["data-test-connection-state"] });
}

/** @type {WeakSet<Element>} */
const watched = new WeakSet();

/** @param {Mounted<{ offline: string }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const notice = find(parentElement, ".offline");
  notice.textContent = data.offline;
  post = setStateValue;
  if (!watched.has(notice)) {
    watched.add(notice);
    watchConnection(notice);
    if (waiting.length) send();
  }
  return undefined;
}
