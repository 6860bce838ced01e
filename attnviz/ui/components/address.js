// Writes the address of the page and the browser's history. Its path is the page, which Streamlit writes; no other module
// writes the rest. Its query is the request, which the server reads; its fragment is the selection, which only the browser
// knows. A change replaces the history entry; another translation or stop of the tour pushes one, as Streamlit does for
// another page. After Back, Forward or a restart of the server, asks the server to
// show what the query says; until it has, the address is not overwritten. A saved page has a fragment only.

import { keepValues, visitorValues } from "./field/values.js";
import { onPageMessage, tellPage } from "./elements.js";
import { sendRequest, shownAddress, unhandledRequests } from "./outbox/outbox.js";
import { isEmbedded } from "./requests.js";
import { keep, kept } from "./storage.js";

// Browsers limit how often the address is written: at most BURST times at once, then once in INTERVAL milliseconds.
const BURST = 30, INTERVAL = 160;

/** What each owner has in the address. @type {Map<unknown, AddressParts>} */
const partsByOwner = new Map();
/** Parameters of owners that were unmounted, until the page is drawn. @type {AddressParts[]} */
let unmountedParts = [];
/** Names of all parameters ever set: one without an owner is removed from the address. */
const parameterNames = { query: new Set(), fragment: new Set() };
/** Name of the current history entry. @type {string | null} */
let entryName = null;
/** Path of the page that was drawn last; null before the first. @type {string | null} */
let drawnPath = null;
let followRequest = 0; // number of the unanswered request to follow Back or Forward; 0 where there is none
/** The unanswered request for another page, and the owners of the current one: those that are added meanwhile belong to
 * the other page, and its entry is not known yet.
 * @type {{ number: number, owners: Set<unknown> } | null} */
let leaving = null;
const AT_END_OF_EVENT = 0; // value of `timer` where the address is written at the end of the running event
/** @type {number | undefined} */
let timer;
let writtenAt = 0; // when the address was written last, in milliseconds
let countedWrites = 0; // how many writes counted against the limit at that time
let writtenQuery = ""; // the query that was written last

/** The parameters in the fragment of the address. */
export const fragmentParameters = () => new URLSearchParams(new URL(location.href).hash.slice(1));

/** State of the current history entry. @returns {HistoryEntry | null} */
export const currentEntry = () => history.state?.attnvizEntry ? history.state : null;

/** Whether the current history entry is of the page and translation that are shown, also after Back or Forward. */
export const isEntryShown = () => `${currentEntry()?.attnvizEntry} `.startsWith(`${entryName} `);

/** What the owners other than the page itself have in the page whose entry is written. */
const partsOfPage = () =>
  [...partsByOwner].filter(([owner]) => owner !== "page" && leaving?.owners.has(owner) !== false).map(([, parts]) =>
    parts
  );

/** The address with the parameters of the page and of its owners. */
function addressOfAll() {
  const address = new URL(location.href), fragment = fragmentParameters();
  const all = [...unmountedParts, partsByOwner.get("page"), ...partsOfPage()];
  const searches = { query: address.searchParams, fragment };
  for (const part of /** @type {const} */ (["query", "fragment"])) {
    const values = Object.fromEntries([...parameterNames[part]].map((name) => [name, null]));
    Object.assign(values, ...all.map((parts) => parts?.[part]));
    for (const [name, value] of Object.entries(values)) {
      if (value === null) searches[part].delete(name);
      else searches[part].set(name, value);
    }
  }
  address.hash = String(fragment);
  return address;
}

/** Cancels the next write of the address. */
function cancelWrite() {
  clearTimeout(timer);
  timer = undefined;
  document.documentElement.toggleAttribute("data-unwritten", false);
}

/** Writes the address, unless the server has not followed Back or Forward yet.
 * @param {boolean} [opens] whether a view was opened, after its page: it has no entry of its own */
export function writeAddress(opens = false) {
  if (entryName === null) return;
  cancelWrite();
  if (followRequest || !isPageDrawn()) return;
  const address = addressOfAll(), previousEntry = currentEntry();
  const parts = partsOfPage(), name = [entryName, ...parts.map(({ suffix }) => suffix)].filter(Boolean).join(" ");
  const identities = parts.flatMap(({ identity }) => identity ? [identity] : []);
  // After a reload, the entry has parts of views that are not drawn yet.
  if (identities.length === 0 && previousEntry?.attnvizEntry.startsWith(`${name} `)) return;
  const others = previousEntry?.attnvizEntry === name ? previousEntry.views : {};
  const views = { ...others, ...Object.fromEntries(identities) };
  const state = { attnvizEntry: name, views };
  const isOther = previousEntry && previousEntry.attnvizEntry !== name;
  if (isOther && !(opens && previousEntry.attnvizEntry === entryName)) history.pushState(state, "", address);
  else if (address.href !== location.href || JSON.stringify(previousEntry) !== JSON.stringify(state)) {
    history.replaceState(state, "", address);
  }
  [countedWrites, writtenAt] = [recentWrites() + 1, performance.now()];
  writtenQuery = address.search;
  tellPage("address");
}

/** Writes the address if it has changed. */
function writeChanges() {
  if (timer !== undefined) writeAddress();
}

/** Parameters whose values in the address are invalid, by name. @type {Map<string, InvalidParameter>} */
export const invalidParameters = new Map();

/** How many writes count against the limit now: one less after each interval. */
const recentWrites = () => Math.max(0, countedWrites - (performance.now() - writtenAt) / INTERVAL);

/** Writes the address as soon as the browser allows; until then the page has `data-unwritten`. */
function scheduleWrite() {
  if (timer !== undefined || entryName === null) return; // in a page of others, the address is not ours
  document.documentElement.toggleAttribute("data-unwritten", true);
  const wait = Math.max(0, recentWrites() - BURST + 1) * INTERVAL;
  timer = wait > 0 ? setTimeout(writeAddress, wait) : AT_END_OF_EVENT;
  if (wait > 0) return;
  // Not by a timer, which may come after a reload on a busy computer.
  queueMicrotask(() => {
    if (timer === AT_END_OF_EVENT) writeAddress();
  });
}

/** Sets what `owner` has in the address, to be written soon, or at once if the name of the entry changes. */
export function setParameters(/** @type {unknown} */ owner, /** @type {AddressParts} */ parts) {
  const before = partsByOwner.get(owner);
  if (JSON.stringify(parts) === JSON.stringify(before)) return;
  partsByOwner.set(owner, parts);
  for (const part of /** @type {const} */ (["query", "fragment"])) {
    for (const name of Object.keys(parts[part] ?? {})) parameterNames[part].add(name);
  }
  if ((before?.suffix ?? "") !== (parts.suffix ?? "")) writeAddress(!before);
  else scheduleWrite();
}

/** The address of a page, by its path. */
export const pageAddress = (/** @type {string} */ path) => new URL(path || ".", document.baseURI);

/** Whether the page of the address is drawn: another one is in the address before. */
const isPageDrawn = () => drawnPath === null || location.pathname === pageAddress(drawnPath).pathname;

const IDLE = ".stApp[data-test-script-state='notRunning']";
const PATIENCE = 300; // milliseconds from the end of a run until the page of the address should be drawn

/** Notes which page is drawn, at the end of a run. Opens that of the address where Streamlit (1.67) has drawn another:
 * a message that was sent before it knew of a new address leads back to the previous page. */
export function pageDrawn(/** @type {string} */ path) {
  drawnPath = path;
  if (isPageDrawn()) return;
  setTimeout(() => {
    if (!isPageDrawn() && !followRequest && document.querySelector(IDLE)) followAddress();
  }, PATIENCE);
}

/** Sets the page, its history entry and the parameters of its query. */
export function setPage(/** @type {PagePayload} */ { entry: name, parameters: query }) {
  const isFirst = entryName === null;
  const earlyEntry = isFirst && currentEntry(); // Back or Forward, before this module listened
  if (earlyEntry && !`${earlyEntry.attnvizEntry} `.startsWith(`${name} `)) followAddress();
  if (name !== entryName) {
    writeChanges(); // the last choice belongs to the previous entry
    unmountedParts = [];
    leaving = null;
    invalidParameters.clear();
  }
  entryName = name;
  setParameters("page", { query });
  scheduleWrite();
  if (isFirst) restoreLeft();
}

const LEFT = "attnviz-left"; // name in the storage of the tab
/** The address when the browser began to load another page or this one again; null before. @type {string | null} */
let leftAddress = null;

/** Stores address and unhandled requests as the page ends; requests before it follows an address are of another one. */
function storeLeft() {
  if (entryName === null) return; // in a page of others
  const all = unhandledRequests(), followed = all.findLastIndex(({ key }) => ["follow", "resume"].includes(key));
  const { href } = location, requests = all.slice(followed + 1);
  keep("sessionStorage", LEFT, { began: leftAddress ?? href, ended: href, entry: history.state, requests });
}

/** After a reload, which ends the session of the server, follows the last address and sends the requests again.
 * Browsers load the address at which a reload began, but the page goes on until they have its answer, and may write
 * another one. */
function restoreLeft() {
  const [opening] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  const { began, ended, entry, requests } = kept("sessionStorage", LEFT) ?? {};
  if (opening?.type !== "reload" || began !== location.href) return; // or it was stored by a page before
  if (ended !== began) {
    history.replaceState(entry, "", ended);
    followAddress();
  }
  for (const { key, value } of requests) sendRequest(key, value);
}

export function removeOwner(/** @type {unknown} */ owner) {
  unmountedParts.push(partsByOwner.get(owner) ?? {});
  partsByOwner.delete(owner);
}

/** Asks the server to show what the address says. */
function followAddress() {
  followRequest = Infinity; // block writes until the request has its number
  followRequest = sendRequest("follow", shownAddress());
  tellPage("history");
}

// A restarted server has no session state: it follows the address, which is not written until then.
onPageMessage("reconnected", ({ detail: serverId }) => {
  writeChanges();
  followRequest = sendRequest("resume", { memory: serverId, address: shownAddress(), values: visitorValues() });
  keepValues(followRequest);
});
onPageMessage("handled", ({ detail: handled }) => {
  if (handled >= followRequest) followRequest = 0;
  if (leaving && handled >= leaving.number) leaving = null;
  unmountedParts = [];
  scheduleWrite();
});
onPageMessage("request", ({ detail: { key, number } }) => {
  writeChanges();
  if (key === "page") leaving = { number, owners: new Set(partsByOwner.keys()) };
});
// Streamlit sends the address with each click.
for (const name of ["pointerdown", "pagehide"]) addEventListener(name, writeChanges, true);
addEventListener("beforeunload", () => leftAddress = location.href);
addEventListener("pagehide", storeLeft, true);

addEventListener("popstate", () => {
  if (entryName === null) return;
  // Somebody wrote another fragment into the address; or this is a saved page, which has no server.
  if (isEmbedded() || !currentEntry() && location.search === writtenQuery) {
    tellPage("fragment");
    return;
  }
  cancelWrite();
  if (isPageDrawn()) followAddress();
  else tellPage("history"); // Streamlit opens the other page
});
