// A view in a file: draws it in the language and theme of the reader, from what the file has of each.

import { setPage } from "./address.js";
import { host } from "./blocks.js";
import { element, find, findAll } from "./elements.js";
import { unpackedView } from "./requests.js";

/** @type {OfflinePayload} */
const payload = JSON.parse(find(document, "#payload").textContent ?? "");
const { names, language, footers, what_ifs: numbers, current, drawn } = payload;
const dark = matchMedia("(prefers-color-scheme: dark)");
const mount = host();
const main = find(document, "main");
const shown = { language, number: current };

async function draw() {
  const wanted = `${shown.language} ${dark.matches ? "dark" : "light"} ${shown.number}`;
  const { blocks, payloads } = await unpackedView(drawn[wanted]);
  if (wanted !== `${shown.language} ${dark.matches ? "dark" : "light"} ${shown.number}`) return;
  document.documentElement.lang = shown.language;
  find(document, "footer").textContent = footers[shown.language];
  mount({ data: [blocks, {}, payloads], parentElement: main, setStateValue: () => {} });
}

main.addEventListener("attnviz:try", (event) => { // captured: it is sent to the root of the view, which may be drawn later
  const { kind, index } = /** @type {CustomEvent} */ (event).detail;
  if (kind !== "what_if" || !numbers.includes(index)) return;
  shown.number = index;
  void draw();
}, true);

/** Draws a button for each language. */
function drawLanguages() {
  const box = find(document, ".languages");
  for (const [code, name] of Object.entries(names)) {
    const button = element("button", "", name);
    button.lang = code;
    button.onclick = () => {
      shown.language = code;
      for (const each of findAll(box, "button")) each.ariaPressed = String(each === button);
      void draw();
    };
    button.ariaPressed = String(code === language);
    box.append(button);
  }
}

setPage({ path: "", other: null, entry: "file", parameters: {} });
if (Object.keys(names).length > 1) drawLanguages();
dark.addEventListener("change", () => void draw());
void draw();
