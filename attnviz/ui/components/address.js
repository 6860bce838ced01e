// Writes the address of the page and the browser's history; no other module does. A change replaces the history entry;
// another page, translation or stop of the tour pushes one. Back and Forward ask the server to show what the address
// says; until it has, the address is not overwritten.

import { holdValues, ownValues } from "./field/field.js";
import { ask, beforeAsking, onAcknowledged, onReconnected } from "./outbox/outbox.js";

// Browsers limit how often the address is written: so many times at once, and then once in so many milliseconds.
const BURST = 30, INTERVAL = 160;

/** Parameters by their owner; null removes one from the address. @type {Map<unknown, AddressParameters>} */
const parametersByOwner = new Map();
/** Parameters of owners that were unmounted, until the page is drawn. @type {AddressParameters[]} */
let withdrawn = [];
/** Names of all parameters ever set: one without an owner is removed from the address. @type {Set<string>} */
const names = new Set();
/** Name of the current history entry. @type {string | null} */
let entry = null;
/** What each owner appends to the name of the entry. @type {Map<unknown, string>} */
const suffixes = new Map();
/** Number of the unanswered request to follow Back or Forward; 0 where there is none. */
let following = 0;
/** Value of `timer` where the address is written at the end of the running event. */
const AT_THE_END = 0;
/** @type {number | undefined} */
let timer;
/** When the address was written last, in milliseconds. */
let written = 0;
/** How many writes counted against the limit at that time. */
let spent = 0;
/** The name of the entry that was written last. */
let writtenEntry = "";
/** Addresses that were not yet written when Back or Forward left their entries, by the names of those. @type {Map<string, URL>} */
const unwritten = new Map();

/**
 * The address of the page with other `parameters`; null removes one.
 * @param {AddressParameters} parameters
 */
function addressWith(parameters) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  return address;
}

/** State of the current history entry. @returns {HistoryEntry | null} */
export const currentEntry = () => history.state?.attnvizEntry ? history.state : null;

/** The address with the parameters of all owners. */
function fullAddress() {
  const none = Object.fromEntries([...names].map((name) => [name, null]));
  return addressWith(
    Object.assign(
      none,
      ...withdrawn,
      parametersByOwner.get("page"),
      ...[...parametersByOwner].map(([owner, own]) => owner === "page" ? {} : own),
    ),
  );
}

/** Writes the address, unless Back or Forward is still to be followed. */
export function writeAddress() {
  clearTimeout(timer);
  timer = undefined;
  document.documentElement.toggleAttribute("data-unwritten", false);
  if (entry === null || following) return;
  const address = fullAddress(), before = currentEntry();
  const name = [entry, ...suffixes.values()].join(" ").trim();
  /** @type {Record<string, string>} */
  const views = before?.attnvizEntry === name ? { ...before.views } : {};
  for (const [id, identity] of identities.values()) views[id] = identity;
  const state = { attnvizEntry: name, views };
  if (before && before.attnvizEntry !== name) history.pushState(state, "", address);
  else if (address.href !== location.href || JSON.stringify(before) !== JSON.stringify(state)) {
    history.replaceState(state, "", address);
  }
  [spent, written, writtenEntry] = [stillSpent() + 1, performance.now(), name];
  document.dispatchEvent(new CustomEvent("attnviz:address"));
}

/** View id and translation by owner. @type {Map<unknown, [string, string]>} */
const identities = new Map();

/**
 * Stores which translation `owner` shows in the view `id`, so that its history entry can be recognised.
 * @param {unknown} owner
 * @param {string} id
 * @param {string} identity
 */
export const identify = (owner, id, identity) => identities.set(owner, [id, identity]);

/** How many writes still count against the limit. */
const stillSpent = () => Math.max(0, spent - (performance.now() - written) / INTERVAL);

/** Writes the address as soon as the browser allows; until then the page has `data-unwritten`. */
function scheduleWrite() {
  if (timer !== undefined) return;
  document.documentElement.toggleAttribute("data-unwritten", true);
  const wait = Math.max(0, stillSpent() - BURST + 1) * INTERVAL;
  timer = wait > 0 ? setTimeout(writeAddress, wait) : AT_THE_END;
  if (wait > 0) return;
  // Not by a timer, which may come after a reload on a busy diagram.
  queueMicrotask(() => {
    if (timer === AT_THE_END) writeAddress();
  });
}

/**
 * Sets the parameters of `owner`, to be written soon. `place` is appended to the name of the entry: when it changes, the
 * address is written at once.
 * @param {unknown} owner
 * @param {AddressParameters} parameters
 * @param {string} [place]
 */
export function give(owner, parameters, place = "") {
  if (
    place === (suffixes.get(owner) ?? "") && JSON.stringify(parameters) === JSON.stringify(parametersByOwner.get(owner))
  ) return;
  parametersByOwner.set(owner, parameters);
  for (const name of Object.keys(parameters)) names.add(name);
  const moves = (suffixes.get(owner) ?? "") !== place;
  suffixes.set(owner, place);
  if (moves) writeAddress();
  else scheduleWrite();
}

/**
 * Sets the page and its parameters; `name` is that of its history entry.
 * @param {string} name
 * @param {AddressParameters} parameters
 */
export function givePage(name, parameters) {
  const early = entry === null && currentEntry(); // Back or Forward, before this module listened
  if (early && !`${early.attnvizEntry} `.startsWith(`${name} `)) follow();
  if (name !== entry && timer !== undefined) writeAddress(); // the last choice belongs to the previous entry
  if (name !== entry) withdrawn = [];
  entry = name;
  give("page", parameters);
  scheduleWrite();
}

/**
 * Removes an owner. Its last parameters stay in the address until its page is left, or drawn.
 * @param {unknown} owner
 */
export function withdraw(owner) {
  withdrawn.push(parametersByOwner.get(owner) ?? {});
  parametersByOwner.delete(owner);
  suffixes.delete(owner);
  identities.delete(owner);
}

/** Asks the server to show what the address says. */
function follow() {
  following = Infinity; // block writes until the request has its number
  following = ask("follow", location.search);
  document.dispatchEvent(new CustomEvent("attnviz:history"));
}

// A restarted server has no session state: it follows the address, which is not written until then.
onReconnected((memory) => {
  if (timer !== undefined) writeAddress();
  following = ask("resume", { memory, query: location.search, values: ownValues() });
  holdValues(following);
});
onAcknowledged((handled) => {
  if (handled >= following) following = 0;
  withdrawn = [];
  scheduleWrite();
});
beforeAsking(() => {
  if (timer !== undefined) writeAddress();
});

// Streamlit sends the address with each click.
for (const name of ["pointerdown", "pagehide"]) {
  addEventListener(name, () => {
    if (timer !== undefined) writeAddress();
  }, true);
}

// Before Streamlit's listener, which would start a run that a later message supersedes.
addEventListener("popstate", (event) => {
  event.stopImmediatePropagation();
  if (timer !== undefined && entry !== null && !following) unwritten.set(writtenEntry, fullAddress());
  clearTimeout(timer);
  timer = undefined;
  document.documentElement.toggleAttribute("data-unwritten", false);
  const now = currentEntry(), late = now && unwritten.get(now.attnvizEntry);
  if (now && late) {
    unwritten.delete(now.attnvizEntry);
    history.replaceState(now, "", late);
  }
  follow();
}, true);
