// The address of the page and the browser's history, which this module alone writes. A change replaces the entry of the
// history; another page or translation, or another stop of the tour, pushes one. Back and Forward ask the server to show
// what the address says; until it has, nothing is written over it.

import { holdValues, ownValues } from "./field/field.js";
import { ask, beforeAsking, onAcknowledged, onReconnected } from "./outbox/outbox.js";

// A browser lets nobody write the address often: so many times at once, and then once in so many milliseconds.
const AT_ONCE = 30, PAUSE = 160;

/** AddressParameters by who gives them; null takes one out. @type {Map<unknown, AddressParameters>} */
const given = new Map();
/** What was given by those that have gone while the page may still be drawn. @type {AddressParameters[]} */
let left = [];
/** The names of all that were ever given: one that nobody gives any more is taken out. @type {Set<string>} */
const names = new Set();
/** What tells the entry of what is on show from others. @type {string | null} */
let entry = null;
/** The parts of an entry that the browser adds. @type {Map<unknown, string>} */
const places = new Map();
/** The number of the request to follow Back or Forward that is not answered yet; 0 where none is. */
let following = 0;
/** Stands for a timer where the address is written at the end of the running event. */
const AT_THE_END = 0;
/** @type {number | undefined} */
let timer;
/** When the address was written last, in milliseconds. */
let written = 0;
/** How many writings were not made up for by then. */
let spent = 0;
/** The name of the entry that was written last. */
let onShow = "";
/** Addresses that were still to be written as Back or Forward left their entries, by the names of those. @type {Map<string, URL>} */
const unwritten = new Map();

/**
 * The address of the page with other `parameters`; null takes one out.
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

/** What the history keeps of the entry on show. @returns {HistoryEntry | null} */
export const entryOnShow = () => history.state?.attnvizEntry ? history.state : null;

/** The address with all that was given. */
function wanted() {
  const none = Object.fromEntries([...names].map((name) => [name, null]));
  return addressWith(
    Object.assign(none, ...left, given.get("page"), ...[...given].map(([owner, own]) => owner === "page" ? {} : own)),
  );
}

/** Writes the address, unless Back or Forward is still to be followed. */
export function writeAddress() {
  clearTimeout(timer);
  timer = undefined;
  document.documentElement.toggleAttribute("data-unwritten", false);
  if (entry === null || following) return;
  const address = wanted(), before = entryOnShow();
  const name = [entry, ...places.values()].join(" ").trim();
  /** @type {Record<string, string>} */
  const views = before?.attnvizEntry === name ? { ...before.views } : {};
  for (const [id, identity] of identities.values()) views[id] = identity;
  const state = { attnvizEntry: name, views };
  if (before && before.attnvizEntry !== name) history.pushState(state, "", address);
  else if (address.href !== location.href || JSON.stringify(before) !== JSON.stringify(state)) {
    history.replaceState(state, "", address);
  }
  [spent, written, onShow] = [stillSpent() + 1, performance.now(), name];
  document.dispatchEvent(new CustomEvent("attnviz:address"));
}

/** The translations on show, with the ids of their views, by who shows them. @type {Map<unknown, [string, string]>} */
const identities = new Map();

/**
 * Says which translation `owner` shows in the view `id`, so that its entry of the history is known again.
 * @param {unknown} owner
 * @param {string} id
 * @param {string} identity
 */
export const identify = (owner, id, identity) => identities.set(owner, [id, identity]);

/** How many writings are not made up for yet. */
const stillSpent = () => Math.max(0, spent - (performance.now() - written) / PAUSE);

/** Writes the address as soon as the browser allows; until then the page bears `data-unwritten`. */
function later() {
  if (timer !== undefined) return;
  document.documentElement.toggleAttribute("data-unwritten", true);
  const wait = Math.max(0, stillSpent() - AT_ONCE + 1) * PAUSE;
  timer = wait > 0 ? setTimeout(writeAddress, wait) : AT_THE_END;
  if (wait > 0) return;
  // Not by a timer, which may come after a reload on a busy diagram.
  queueMicrotask(() => {
    if (timer === AT_THE_END) writeAddress();
  });
}

/**
 * Takes over the parameters of `owner`, to be written soon. `place` is what the owner adds to the name of the entry: where
 * that changes, all is written at once.
 * @param {unknown} owner
 * @param {AddressParameters} parameters
 * @param {string} [place]
 */
export function give(owner, parameters, place = "") {
  if (place === (places.get(owner) ?? "") && JSON.stringify(parameters) === JSON.stringify(given.get(owner))) return;
  given.set(owner, parameters);
  for (const name of Object.keys(parameters)) names.add(name);
  const moves = (places.get(owner) ?? "") !== place;
  places.set(owner, place);
  if (moves) writeAddress();
  else later();
}

/**
 * Another page, or the same one with other parameters: `name` tells its entry of the history from others.
 * @param {string} name
 * @param {AddressParameters} parameters
 */
export function givePage(name, parameters) {
  const early = entry === null && entryOnShow(); // Back or Forward, before anything here could hear of it
  if (early && !`${early.attnvizEntry} `.startsWith(`${name} `)) follow();
  if (name !== entry && timer !== undefined) writeAddress(); // what was chosen last belongs to the entry that is left
  if (name !== entry) left = [];
  entry = name;
  give("page", parameters);
  later();
}

/**
 * Forgets an owner. What it gave last stays in the address until the page that it goes from is left, or drawn.
 * @param {unknown} owner
 */
export function withdraw(owner) {
  left.push(given.get(owner) ?? {});
  given.delete(owner);
  places.delete(owner);
  identities.delete(owner);
}

/** Asks the server to show what the address says. */
function follow() {
  following = Infinity; // nothing is written before the request has its number
  following = ask("follow", location.search);
  document.dispatchEvent(new CustomEvent("attnviz:history"));
}

// A server that has begun again knows nothing of the visit: the address has it, and is not written until it is followed.
onReconnected((memory) => {
  if (timer !== undefined) writeAddress();
  following = ask("resume", { memory, query: location.search, values: ownValues() });
  holdValues(following);
});
onAcknowledged((handled) => {
  if (handled >= following) following = 0;
  left = [];
  later();
});
beforeAsking(() => {
  if (timer !== undefined) writeAddress();
});

// What Streamlit sends with a click has the address in it.
for (const name of ["pointerdown", "pagehide"]) {
  addEventListener(name, () => {
    if (timer !== undefined) writeAddress();
  }, true);
}

// Before Streamlit hears of it, which would run the page in a way that a later message takes the place of.
addEventListener("popstate", (event) => {
  event.stopImmediatePropagation();
  if (timer !== undefined && entry !== null && !following) unwritten.set(onShow, wanted());
  clearTimeout(timer);
  timer = undefined;
  document.documentElement.toggleAttribute("data-unwritten", false);
  const now = entryOnShow(), late = now && unwritten.get(now.attnvizEntry);
  if (now && late) {
    unwritten.delete(now.attnvizEntry);
    history.replaceState(now, "", late);
  }
  follow();
}, true);
