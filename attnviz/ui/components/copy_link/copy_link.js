// Copies the address of what is on show, and says so for a while; beside it, the way into lecture mode.

import { writeAddress } from "../address.js";
import { find, letGo, wordIn, write } from "../shared.js";

const TOLD = 2500; // milliseconds

/**
 * Where a page is not served safely a browser has no clipboard: then the old way is tried.
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
    letGo(event);
    writeAddress();
    button.textContent = await copy(location.href).then(() => data.copied, () => data.failed);
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = data.copy;
    }, TOLD);
  };
  wordIn(parentElement, data);
  find(parentElement, ".enter-lecture").onclick = (event) => {
    letGo(event);
    document.dispatchEvent(new CustomEvent("attnviz:lecture"));
  };
  return () => clearTimeout(timer);
}
