// Two buttons: one copies the current address and briefly confirms it, the other enters lecture mode.

import { writeAddress } from "../address.js";
import { blurAfterClick, find, write, writeTexts } from "../shared.js";

const CONFIRMED = 2500; // milliseconds

/**
 * Copies a text. Without HTTPS a browser has no navigator.clipboard: then execCommand is used.
 * @param {string} text
 */
async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const box = document.createElement("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("the browser copies nothing");
}

/** @param {Mounted<Words>} mounted */
export default function ({ data, parentElement }) {
  const button = find(parentElement, ".copy-link");
  /** @type {number | undefined} */
  let timer;
  write(button, data.copy);
  button.onclick = async (event) => {
    blurAfterClick(event);
    writeAddress();
    button.textContent = await copy(location.href).then(() => data.copied, () => data.failed);
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = data.copy;
    }, CONFIRMED);
  };
  writeTexts(parentElement, data);
  find(parentElement, ".enter-lecture").onclick = (event) => {
    blurAfterClick(event);
    document.dispatchEvent(new CustomEvent("attnviz:lecture"));
  };
  return () => clearTimeout(timer);
}
