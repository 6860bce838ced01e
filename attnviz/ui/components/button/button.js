// A button that sends its key as a request when it is pressed.

import { sendRequest } from "../outbox/outbox.js";
import { find, write } from "../shared.js";

/** @param {Mounted<{ key: string, label: string, primary: boolean }>} mounted */
export default function ({ data, parentElement }) {
  const button = find(parentElement, "button");
  write(button, data.label);
  button.classList.toggle("primary", data.primary);
  button.onclick = () => void sendRequest("press", data.key);
}
