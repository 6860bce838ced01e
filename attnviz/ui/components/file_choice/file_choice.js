// A file that a visitor chooses or drops: its name and content are sent as a request.

import { sendRequest } from "../outbox/outbox.js";
import { find, write } from "../elements.js";

/** @param {Mounted<{ key: string, label: string, bytes: number, tooLarge: string }>} mounted */
export default function ({ data, parentElement }) {
  const problem = find(parentElement, "p"), input = find(parentElement, "input", HTMLInputElement);
  write(find(parentElement, "span"), data.label);
  input.onchange = async () => {
    const [file] = input.files ?? [];
    if (!file) return;
    write(problem, file.size > data.bytes ? data.tooLarge : "");
    if (file.size > data.bytes) return;
    sendRequest(data.key, { name: file.name, content: (await file.bytes()).toBase64() });
  };
}
