// What a component draws from, fetched from the server where it was not sent along: see `attnviz/ui/shared_payloads.py`.

import { fill, states, whenIdle } from "./shared.js";
import { selectionOf } from "./state.js";
import { shown } from "./view.js";

const QUIET = 600; // milliseconds in which nothing was shown anew, after which what is not in sight is fetched

/**
 * The payload that a component draws from: what it was given, or what lies where that says, `at` an address in which
 * {step} and {word} stand for those on show. Null where it is still to be fetched: then it is, and drawn.
 * @template {object} Numbers
 * @param {HTMLElement} root
 * @param {Fetching<Numbers>} state
 * @param {(root: HTMLElement, state: any) => void} draw
 * @returns {Numbers | null}
 */
export function payloadOf(root, state, draw) {
  const { data } = state;
  if (!("at" in data)) return data;
  const { step } = shown(root);
  if (step === null) return null;
  const at = addressOf(root, data, step);
  if (state.ahead?.payload && state.ahead.at === at) state.fetched = { at, payload: state.ahead.payload };
  if (state.fetched?.at === at) {
    state.wanted = undefined;
    root.toggleAttribute("data-waiting", false);
    root.ariaBusy = null;
    return state.fetched.payload;
  }
  if (state.wanted === at) return null;
  state.wanted = at;
  root.toggleAttribute("data-waiting", true);
  root.ariaBusy = "true";
  const now = () => bring(root, state, draw);
  if (state.seen) now();
  else inTurn(root, state, now);
  return null;
}

/**
 * Where the payload of a step lies, or where there is one of what a visitor `chose` and he did, that; an address may have
 * {size} where it is another in a narrow window, and {selection} where it is of all that the view shows.
 * @param {HTMLElement} root
 * @param {Place} place
 * @param {number} step
 */
function addressOf(root, { at, chosen }, step) {
  const { now } = shown(root);
  const own = !now || (now.word === null && now.foil === null && now.chosen === null);
  const place = chosen && !own ? chosen : at;
  const values = { step, word: now?.word ?? "", size: isNarrow(root) ? "-narrow" : "", selection: selectionOf(root) };
  return fill(place, values);
}

export const NARROW = 640; // pixels of a view in which few pictures stand side by side

/**
 * Whether the view of `root` is narrow.
 * @param {HTMLElement} root
 */
const isNarrow = (root) => shown(root).width < NARROW;

/**
 * Fetches the payload of the step after the one on show, when there is time: most go there next.
 * @template {object} Numbers
 * @param {HTMLElement} root
 * @param {Fetching<Numbers>} state
 * @param {number} steps that there are
 */
export function fetchAhead(root, state, steps) {
  const { step } = shown(root), { data } = state;
  if (step === null || step + 1 >= steps || !("at" in data)) return;
  const at = addressOf(root, data, step + 1);
  if (state.ahead?.at === at || state.fetched?.at === at) return;
  const ahead = { at, payload: /** @type {Numbers | null} */ (null) };
  state.ahead = ahead;
  const wanted = () => state.ahead === ahead && states.has(root);
  whenIdle(async () => {
    ahead.payload = await fetched(at, false, wanted);
  });
}

/**
 * Fetches what is wanted, one after the other if that changes meanwhile, and draws.
 * @template {object} Numbers
 * @param {HTMLElement} root
 * @param {Fetching<Numbers>} state
 * @param {(root: HTMLElement, state: any) => void} draw
 */
async function bring(root, state, draw) {
  if (state.loading) return;
  state.loading = true;
  while (state.wanted !== undefined) {
    const at = state.wanted;
    const payload = await fetched(at, Boolean(state.seen), () => state.wanted === at && states.has(root));
    if (payload) state.fetched = { at, payload };
    if (state.wanted === at) state.wanted = undefined;
  }
  state.loading = false;
  if (states.has(root) && state.fetched) draw(root, state);
}

/**
 * What lies at an address below the page; asks again as long as it is `wanted` and the server does not answer. What is
 * not `seen` the server may make when there is time.
 * @param {string} at
 * @param {boolean} seen
 * @param {() => boolean} wanted
 * @returns {Promise<any>}
 */
export async function fetched(at, seen, wanted) {
  for (let tries = 0; tries < 8 && wanted(); tries += 1) {
    try {
      /** @type {HeadersInit} */
      const headers = seen ? {} : { "attnviz-later": "1" };
      const answer = await fetch(new URL(at, document.baseURI), { headers });
      if (answer.ok) return await answer.json();
    } catch {
      // The server begins again, or the network does.
    }
    await new Promise((soon) => setTimeout(soon, 250 * 2 ** tries));
  }
  return null;
}

/**
 * Calls `load` as soon as the component is in sight, or else when it is its turn: of what is not in sight one is fetched
 * at a time, while nothing new is shown.
 * @param {HTMLElement} root
 * @param {Following} state
 * @param {() => Promise<void>} load
 */
function inTurn(root, state, load) {
  const view = shown(root);
  state.hurry = load;
  view.queue.push(load);
  if (view.queue.length > 1) return;
  const next = async () => {
    const left = view.changed + QUIET - performance.now();
    if (left > 0) {
      setTimeout(next, left);
      return;
    }
    try {
      await view.queue[0]();
    } finally {
      view.queue.shift();
      if (view.queue.length) whenIdle(next);
    }
  };
  setTimeout(next, QUIET);
}
