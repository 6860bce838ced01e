// A button that sends its key as a request when it is pressed.

import { sendRequest } from "../outbox/outbox.js";
import { find, write } from "../elements.js";

/** @param {Mounted<{ key: string, label: string, type: string, disabled: boolean }>} mounted */
export default function ({ data, parentElement }) {
  const button = find(parentElement, "button", HTMLButtonElement);
  const { key, label, type, disabled } = data;
  write(button, label);
  Object.assign(button, { className: `own-button ${type}`, disabled, onclick: () => void sendRequest(key) });
}
