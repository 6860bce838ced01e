// The address of the page. The server says what is to be in it; a change replaces the entry of the browser's history, and
// another page or translation pushes one. Back and Forward are Streamlit's: it asks the server to show what they say.

import { addressWith } from "../shared.js";

const BEHIND = 3000; // milliseconds after Back for which the server may still be at what was left

/**
 * Whether the server has still to follow Back or Forward. Told of anything else before it has, it would not follow.
 * @param {MessengerState} state
 */
export const isBehind = (state) => performance.now() - (state.wentBack ?? -BEHIND) < BEHIND;

/**
 * Whether the address says already what the server has on show.
 * @param {AddressRecord} record
 */
export function isInAddress({ parameters }) {
  const { searchParams } = new URL(location.href);
  return Object.entries(parameters).every(([name, value]) => searchParams.get(name) === value);
}

/**
 * Writes the address, but for what was to be written already.
 * @param {MessengerState} state
 * @param {AddressRecord} record
 */
export function writeAddress(state, { entry, parameters }) {
  const text = JSON.stringify([entry, parameters]);
  if (text === state.written) return;
  const here = history.state?.attnvizEntry;
  const other = here !== undefined && here !== entry;
  if (other && isBehind(state)) return;
  state.written = text;
  history[other ? "pushState" : "replaceState"]({ attnvizEntry: entry }, "", addressWith(parameters));
}
