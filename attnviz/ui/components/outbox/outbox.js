// The queue of this tab's requests to the server, presses of Streamlit's buttons, and the notice of a lost connection.
//
// Streamlit sends component state again with every message, also after a lost connection, so a request stays in the
// state until the server has acknowledged its number; the server handles each number once.

import { find, findAll, prefersReducedMotion, tellPage } from "../elements.js";

/** Identifies this tab among those of the session. */
const tabId = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
const CONNECTED = "CONNECTED";

let lastNumber = 0;
let lastHandled = 0; // number of the last acknowledged request
let serverId = ""; // identifies the server process, whose restart loses the session; empty until known
/** @type {AnyRequest[]} */
let pending = [];
/** @type {((name: string, value: unknown) => void) | null} */
let setOutboxState = null;
/** Tells that the requested page waits for the connection, if it is lost. @type {(() => void) | null} */
let tellWaiting = null;
let reconnecting = 0; // number of the unacknowledged request made on reconnecting; 0 where there is none

/** The path and the query of the address. */
export const shownAddress = () => location.pathname + location.search;

// A copy, since Streamlit skips a value that equals the previous one.
const send = () =>
  setOutboxState?.("sent", { tab: tabId, memory: serverId, address: shownAddress(), requests: [...pending] });

/** Sends a request to the server: a value for the control with this key; returns its number. */
export function sendRequest(/** @type {string} */ key, /** @type {unknown} */ value = null) {
  tellPage("request", { key, number: lastNumber + 1 });
  lastNumber += 1;
  pending.push({ seq: lastNumber, key, value });
  if (key === "page") tellWaiting?.();
  // Streamlit (1.67) sends what changes within one tick in one message, which runs the fragment of the first widget alone.
  setTimeout(send, 0);
  return lastNumber;
}

/** The requests that the server has not acknowledged, in order. */
export const unhandledRequests = () => pending.map(({ key, value }) => ({ key, value }));

/** The number of the last acknowledged request. */
export const lastAcknowledged = () => lastHandled;

/** Removes the requests that the server has handled.
 * @param {Record<string, number>} handledByTab number of the last handled request
 * @param {string} server id of the server process */
export function acknowledge(handledByTab, server) {
  const last = handledByTab[tabId] ?? 0;
  if (!reconnecting || last >= reconnecting) [serverId, reconnecting] = [server, 0];
  lastHandled = last;
  pending = pending.filter((request) => request.seq > last);
  tellPage("handled", last);
}

/** @type {Map<string, () => void>} */
const handlers = new Map();
/** Keys of buttons pressed without a handler. @type {Set<string>} */
const unhandledKeys = new Set();

/** Calls `act` when the button `key` is pressed, until `signal` aborts, and now if it was pressed before.
 * @param {string} key @param {() => void} act @param {AbortSignal} signal */
export function handlePress(key, act, signal) {
  handlers.set(key, act);
  if (unhandledKeys.delete(key)) act();
  signal.addEventListener("abort", () => handlers.get(key) === act && handlers.delete(key));
}

/** The key of Streamlit's button that a click presses; null where it presses none, or a sign-in button. */
function pressedKey(/** @type {Event} */ { target }) {
  const button = target instanceof Element && target.closest("[data-testid='stButton'] button");
  if (!(button instanceof HTMLButtonElement) || button.disabled) return null;
  const [, key] = /(?:^|\s)st-key-(\S+)/.exec(button.closest("[class*='st-key-']")?.className ?? "") ?? [];
  return key && !key.startsWith("sign_") ? key : null; // sign-in is handled by Streamlit
}

// A button's trigger is lost where Streamlit supersedes its run (streamlit #9100): its press is a request instead.
document.addEventListener("click", (click) => {
  const key = pressedKey(click);
  if (key === null || !setOutboxState) return; // in a page of others, its buttons are not ours
  click.preventDefault();
  click.stopImmediatePropagation();
  const act = handlers.get(key);
  if (act) return act();
  unhandledKeys.add(key);
  sendRequest(key);
}, true);

/** Closes Streamlit's dialog about the lost connection while the notice is shown: it makes the page inert, and it is
 * written in English for the person who started the server. Streamlit 1.67 has no option for it. The app opens no
 * dialog of Streamlit itself. */
function closeDialog(/** @type {HTMLElement} */ notice) {
  if (notice.hidden) return;
  for (const button of findAll(document, "[data-testid='stDialog'] [role=dialog] > button")) button.click();
}

function watchConnection(/** @type {HTMLElement} */ notice) {
  const app = find(document, ".stApp");
  let lost = false;
  new MutationObserver(() => closeDialog(notice)).observe(document.body, { childList: true });
  new MutationObserver(() => {
    const connected = app.getAttribute("data-test-connection-state") === CONNECTED;
    notice.hidden = connected;
    closeDialog(notice);
    if (connected && lost) {
      const previousServerId = serverId;
      serverId = ""; // further requests, also with text typed meanwhile, are for any server
      tellPage("reconnected", previousServerId);
      reconnecting = lastNumber;
    }
    lost = !connected;
  }).observe(app, { attributeFilter: ["data-test-connection-state"] });
}

/** @type {WeakSet<Element>} */
const watched = new WeakSet();

/** @param {Mounted<{ offline: string, page: string }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const notice = find(parentElement, ".offline");
  notice.textContent = data.offline;
  setOutboxState = setStateValue;
  tellWaiting = () => {
    if (notice.hidden) return;
    notice.textContent = data.page;
    notice.animate({ translate: ["-6px", "6px"] }, { duration: 150, iterations: prefersReducedMotion() ? 0 : 3 });
  };
  if (!watched.has(notice)) {
    watched.add(notice);
    watchConnection(notice);
    if (pending.length) send();
  }
}
