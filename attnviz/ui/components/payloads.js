// Fetches the payloads of components from the server, at once, in advance or when idle, unless they were sent with the
// page.

import { embeddedPayload, fetchPayload, isEmbedded, REFUSED } from "./requests.js";
import { whenIdle } from "./elements.js";
import { setLanguage } from "./numbers.js";
import { filledAddress } from "./state.js";
import { viewState } from "./view.js";

const MISSING = 404; // status of an answer that there is no such payload
const FIRST_WAIT = 250, LONGEST_WAIT = 4000; // milliseconds from a failed fetch to the next
const AT_ONCE = 3; // payloads that are fetched at a time, while others are on their way through the network
const QUIET = 600; // milliseconds without a change, after which payloads of components out of sight are fetched

/** The payload that a component draws, in whose language numbers are written from then on: its data, or the payload at
 * the address `at` in these data, in which {step} and {word} stand for the current ones. Null while it is fetched, after
 * which `draw` is called, and where there is none.
 * @template {object} Numbers @param {FetchingState<Numbers>} state @param {(state: any) => void} draw
 * @returns {Numbers | null} */
export function payloadOf(state, draw) {
  const { data, root } = state;
  const inLanguage = (/** @type {any} */ payload) => {
    if (payload.language) setLanguage(payload.language);
    return payload;
  };
  if (!("at" in data)) return inLanguage(data);
  const { step } = viewState(root);
  if (step === null) return null;
  const at = addressOf(root, data, step);
  const ready = [state.prefetched, data.sent, state.fetched].find((one) => one?.payload && one.at === at);
  if (!ready && state.absent === at) return null; // asked for once, however often it is drawn
  state.absent = undefined;
  root.removeAttribute("data-refused");
  if (ready) {
    Object.assign(state, { fetched: ready, wanted: undefined });
    markWaiting(root, false);
    return inLanguage(ready.payload);
  }
  if (state.wanted === at) return null;
  state.wanted = at;
  markWaiting(root, true);
  const load = () => fetchAndDraw(state, draw);
  if (state.inSight) load();
  else enqueue(state, load);
  return null;
}

function markWaiting(/** @type {HTMLElement} */ root, /** @type {boolean} */ waiting) {
  root.toggleAttribute("data-waiting", waiting);
  root.ariaBusy = waiting ? "true" : null;
}

/** The address of the payload of a step: `chosen` once the visitor has chosen something, where there is one. An address
 * may have {word}, the chosen word (see also state.js).
 * @param {HTMLElement} root @param {PayloadAddress} addresses @param {number} step */
function addressOf(root, { at, chosen }, step) {
  const { now } = viewState(root);
  const own = !now || (now.word === null && now.foil === null && now.source === null);
  const address = chosen && !own ? chosen : at;
  return filledAddress(root, address, { step, word: now?.word ?? "" });
}

/** Fetches the payload of the next step, where the data of the component say of how many steps that is to be done.
 * @template {object} Numbers @param {FetchingState<Numbers>} state */
export function fetchAhead(state) {
  const { root, data, signal } = state, { step } = viewState(root);
  if (step === null || !("at" in data) || step + 1 >= (data.prefetch ?? 0)) return;
  const at = addressOf(root, data, step + 1);
  if (state.prefetched?.at === at || state.fetched?.at === at) return;
  const prefetched = { at, payload: /** @type {Numbers | null} */ (null) };
  state.prefetched = prefetched;
  const wanted = () => state.prefetched === prefetched && !signal.aborted;
  whenIdle(async () => prefetched.payload = await fetchJson(at, false, wanted));
}

/** Fetches the wanted payload, the next one if that changes meanwhile, and draws.
 * @template {object} Numbers @param {FetchingState<Numbers>} state @param {(state: any) => void} draw */
async function fetchAndDraw(state, draw) {
  const { root, signal } = state;
  if (state.loading || signal.aborted) return;
  state.loading = true;
  markWaiting(root, state.wanted !== undefined);
  let payload = null;
  while (state.wanted !== undefined) {
    const at = state.wanted, isWanted = () => state.wanted === at && !signal.aborted;
    const refuse = (/** @type {string} */ reason) => isWanted() && root.setAttribute("data-refused", reason);
    payload = await fetchJson(at, Boolean(state.inSight), isWanted, refuse);
    if (payload) state.fetched = { at, payload };
    else if (isWanted()) state.absent = at;
    if (state.wanted === at) state.wanted = undefined;
  }
  state.loading = false;
  if (signal.aborted) return;
  if (!payload) markWaiting(root, false);
  if (payload || root.dataset.refused) draw(state);
}

/** Fetches JSON from an address below the page; retries as long as it is `wanted` and the server does not answer. For a
 * component that is not `inSight`, the server may compute it later. `refuse` gets the sentence of a server,
 * or of the view that the payload should travel with, that has none.
 * @param {string} at @param {boolean} inSight @param {() => boolean} wanted @param {(reason: string) => unknown} [refuse]
 * @returns {Promise<any>} */
export async function fetchJson(at, inSight, wanted, refuse) {
  const own = embeddedPayload(at);
  if (own?.refused) refuse?.(own.refused);
  if (own !== undefined || isEmbedded()) return own?.refused ? null : own ?? null;
  for (let wait = FIRST_WAIT; wanted(); wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const answer = await fetchPayload(at, { headers: inSight ? {} : { "attnviz-later": "1" } });
      if (answer.ok) return await answer.json();
      if (answer.status === MISSING) return null;
      if (answer.status === REFUSED) {
        refuse?.(await answer.text());
        return null;
      }
    } catch {
      // The server restarts, or the network is down.
    }
    await new Promise((soon) => setTimeout(soon, wait));
  }
  return null;
}

/** Calls `load` as soon as the component is in sight, or else in its turn: of components out of sight, `AT_ONCE` load at
 * a time, while nothing else changes. */
function enqueue(/** @type {ComponentState} */ state, /** @type {() => Promise<void>} */ load) {
  const { root } = state, view = viewState(root);
  state.fetchNow = load;
  view.queue.push(async () => {
    if (root.checkVisibility()) await load();
    else markWaiting(root, false); // in a closed box: it loads when it comes into sight
  });
  if (view.loading === AT_ONCE) return;
  view.loading += 1;
  const next = async () => {
    const remaining = view.changed + QUIET - performance.now();
    if (remaining > 0) {
      setTimeout(next, remaining);
      return;
    }
    try {
      await view.queue.shift()?.();
    } finally {
      if (view.queue.length) whenIdle(next);
      else view.loading -= 1;
    }
  };
  setTimeout(next, QUIET);
}
