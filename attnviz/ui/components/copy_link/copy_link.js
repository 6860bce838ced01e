// A button that copies an address, by default the current one, and briefly confirms it.

import { writeAddress } from "../address.js";
import { element, find, onPress, write } from "../elements.js";

const CONFIRMED = 2500; // milliseconds

/** Copies a text. Without HTTPS a browser has no navigator.clipboard: then execCommand is used. */
async function copy(/** @type {string} */ text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const box = element("textarea", "", { value: text });
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("the browser copies nothing");
}

/** @param {Mounted<{ words: Words, address: string }>} mounted */
export default function ({ data: { words, address }, parentElement }) {
  const button = find(parentElement, ".copy-link");
  /** @type {number | undefined} */
  let timer;
  write(button, words.copy);
  onPress(button, async () => {
    writeAddress();
    const copied = address ? new URL(address, document.baseURI).href : location.href;
    button.textContent = await copy(copied).then(() => words.copied, () => words.failed);
    clearTimeout(timer);
    timer = setTimeout(() => button.textContent = words.copy, CONFIRMED);
  });
  return () => clearTimeout(timer);
}
