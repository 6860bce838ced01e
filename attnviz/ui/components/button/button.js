// A button that sends its key as a request when it is pressed.

import { sendRequest } from "../outbox/outbox.js";
import { find, write } from "../shared.js";

/** @param {Mounted<{ key: string, label: string, type: string, disabled: boolean }>} mounted */
export default function ({ data, parentElement }) {
  const button = find(parentElement, "button", HTMLButtonElement);
  write(button, data.label);
  button.className = `own-button ${data.type}`;
  button.disabled = data.disabled;
  button.onclick = () => void sendRequest(data.key);
}
