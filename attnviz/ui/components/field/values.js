// The values of form fields. The server owns them; a value that a visitor sets is sent as a request. Until the server has
// handled it, the field shows what the visitor set.

import { onPageMessage } from "../elements.js";
import { lastAcknowledged, sendRequest } from "../outbox/outbox.js";

/** By key; kept when the field is unmounted. @type {Map<string, FieldState>} */
export const fields = new Map();

/** @param {FieldValue} value @returns {FieldState} */
export const newField = (value) => ({ value, server: value, edited: false, own: false, sent: 0, show: null });

/** Sends the value of a field that was edited. */
export function commit(/** @type {string} */ key, /** @type {FieldState} */ field) {
  if (!field.edited) return;
  field.edited = false;
  field.own = true;
  field.sent = Infinity; // keep the value until the request has its number
  field.sent = sendRequest(key, field.value);
}

/** Shows the value of the server, unless the visitor has set one that the server has not handled. */
export function settle(/** @type {FieldState} */ field) {
  const settled = !field.edited && field.sent <= lastAcknowledged();
  if (settled && field.server !== field.value) Object.assign(field, { value: field.server, own: false });
  field.show?.();
}

const commitAll = () => fields.forEach((field, key) => commit(key, field));
onPageMessage("request", commitAll);
addEventListener("pagehide", commitAll, true);
onPageMessage("handled", () => fields.forEach(settle));

/** Values set by the visitor, by key, for a restarted server. */
export function visitorValues() {
  return Object.fromEntries([...fields].filter(([, { own }]) => own).map(([key, { value }]) => [key, value]));
}

/** Keeps all values until the server has handled the request with this number. */
export const keepValues = (/** @type {number} */ number) => fields.forEach((field) => field.sent = number);
