// Fetches payloads by the digest of their request. A server that does not know the request, for example after a restart,
// is sent it once, by POST: sentences are in no address. The server side is `attnviz/ui/payloads.py`.

import { bytesOf } from "./numbers.js";

export const REFUSED = 422; // status of an answer whose text says to the visitor why there is nothing
const UNKNOWN = 428; // status of an answer that asks for the request
const MOST = 500; // requests that are kept

/** Requests as JSON, by their digests, the newest last. @type {Map<string, string>} */
const requests = new Map();
/** Payloads that travel with views, by their addresses, by the element of each view. @type {Map<Element, Record<string, any>>} */
const embedded = new Map();
/** The last sending of each request, by digest, and when it ended. @type {Map<string, { answered: Promise<boolean>, ended: number }>} */
const sendings = new Map();
let visitor = "";

/** Keeps the requests that the server sends with the data of a component. */
export function keepRequests(/** @type {Record<string, string>} */ sent = {}) {
  for (const [digest, text] of Object.entries(sent)) {
    requests.delete(digest);
    requests.set(digest, text);
  }
  for (const digest of requests.keys()) {
    if (requests.size <= MOST) break;
    requests.delete(digest);
    sendings.delete(digest);
  }
}

/** A view with its payloads, from gzipped JSON in base64; values of charts are numbers of texts.
 * @returns {Promise<any>} */
export async function unpackedView(/** @type {string} */ base64) {
  const packed = new Blob([bytesOf(base64)]).stream();
  const view = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
  for (const { values = {} } of Object.values(view.payloads)) {
    for (const step of Object.keys(values)) values[step] = view.texts[values[step]];
  }
  return view;
}

/** Keeps the payloads that travel with the view in an element, by their addresses, instead of its previous ones.
 * @param {Element} place @param {Record<string, any> | null} payloads null once the view is gone */
export function embedPayloads(place, payloads) {
  embedded.delete(place);
  if (payloads) embedded.set(place, payloads);
}

/** Whether payloads travel with the view, so that none can be fetched. */
export const isEmbedded = () => embedded.size > 0;

/** The payload at an address, if it travels with a view. @param {string} at */
export const embeddedPayload = (at) => [...embedded.values()].find((payloads) => at in payloads)?.[at];

/** Sets the id that the server gave the visitor: translations have their turn among those of other visitors. */
export const setVisitor = (/** @type {string} */ id) => visitor = id;

/** Sends the request of an address to the server, unless it was sent while the server was `asked` for the payload;
 * false where it is not known here or not accepted. @param {URL} url @param {number} asked when */
function sendRequestOf(url, asked) {
  const digest = url.pathname.split("/").at(-2) ?? "", body = requests.get(digest), last = sendings.get(digest);
  if (body === undefined) return Promise.resolve(false);
  if (last && last.ended >= asked) return last.answered;
  const answered = fetch(url.origin + url.pathname, { method: "POST", body }).then(({ ok }) => ok);
  const sending = { answered, ended: Infinity };
  sendings.set(digest, sending);
  answered.finally(() => sending.ended = performance.now()).catch(() => {});
  return answered;
}

/** Fetches the payload at an address below the page, as `fetch` does.
 * @param {string} at @param {{ method?: string, headers?: Record<string, string> }} [options] */
export async function fetchPayload(at, { method, headers } = {}) {
  const url = new URL(at, document.baseURI);
  const options = { method, headers: visitor ? { ...headers, "attnviz-visitor": visitor } : headers };
  const asked = performance.now(), answer = await fetch(url, options);
  return answer.status === UNKNOWN && await sendRequestOf(url, asked) ? fetch(url, options) : answer;
}
