// Draws the blocks of a view: boxes, texts and components. A host (Streamlit's script in `blocks.py`, a notebook, a
// file) calls what `host` returns with each change.

import { embedPayloads, keepRequests } from "./requests.js";
import { element, find, focused, tabStops, write } from "./elements.js";
import { openBeside } from "./terms/card.js";

/** Markup and style sheets of components, by their kinds. @type {Record<string, ComponentFiles>} */
let files = {};
/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();
/** What is mounted in the element of a component. @type {WeakMap<Element, MountedComponent>} */
const components = new WeakMap();
/** The element in which a block draws, which may be in a shadow root. @type {WeakMap<Element, HTMLElement | ShadowRoot>} */
const places = new WeakMap();

/** Sets a value in the state of the Streamlit component that is drawn now. @type {Mounted<unknown>["setStateValue"]} */
let setState = () => {};

/** Returns the function that draws blocks: it gets them in a list, perhaps with requests of payloads or with the
 * payloads themselves, and an element. It returns a cleanup, which does nothing as long as the element is on the page: of
 * two changes at once, Streamlit (1.67) cleans up the first before or after the second is mounted, in the same element.
 * @param {string} [scope] selector of what the style sheets apply to, in a page of others
 * @returns {(mounted: Mounted<[Block[], Record<string, string>?, Record<string, any>?]>) => () => void} */
export function host(scope = "") {
  files = attnvizModule("files.js").default;
  adopt(document, Object.keys(files).filter((kind) => !files[kind].isolated), scope);
  return ({ data, parentElement, setStateValue }) => {
    keepRequests(data?.[1]);
    if (data?.[2]) embedPayloads(parentElement, data[2]);
    setState = setStateValue;
    drawBlocks(parentElement, data?.[0] ?? []);
    return () => {
      if (parentElement.isConnected) return;
      [...parentElement.children].forEach(end);
      embedPayloads(parentElement, null);
    };
  };
}

const WIDE = "(min-width: 1000px)"; // a window that opens the boxes with `wide`

/** Applies the style sheets of components of these `kinds`, once each.
 * @param {Document | ShadowRoot} root @param {string[]} kinds @param {string} [scope] */
function adopt(root, kinds, scope = "") {
  for (const kind of kinds) {
    const sheet = sheets.get(kind) ?? new CSSStyleSheet();
    const css = files[kind]?.css ?? "";
    if (!sheets.has(kind)) sheet.replaceSync(scope ? `${scope} {\n${css}\n}` : css);
    sheets.set(kind, sheet);
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  }
}

/** Draws blocks in `parent`: elements of those that were there before stay, the others are ended. Where the keyboard was
 * in one of those, it goes on in what replaces it. */
function drawBlocks(/** @type {Element} */ parent, /** @type {Block[]} */ blocks) {
  const before = new Map(
    [...parent.children].map((node) => [node instanceof HTMLElement ? node.dataset.block : "", node]),
  );
  /** @type {Map<string, number>} */
  const counts = new Map();
  const nodes = blocks.map((block) => {
    const count = counts.get(`${block.kind} ${block.key}`) ?? 0, name = `${block.kind} ${block.key} ${count}`;
    counts.set(`${block.kind} ${block.key}`, count + 1);
    const known = before.get(name);
    before.delete(name);
    return known instanceof HTMLElement ? known : newElement(block, name);
  });
  const gone = [...before.values()];
  const losesFocus = gone.some((node) => node.matches(":focus-within")) && focused()?.matches(":focus-visible");
  for (const node of gone) {
    end(node);
    node.remove();
  }
  nodes.forEach((node, place) => {
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] ?? null);
    change(node, blocks[place]);
  });
  if (losesFocus) tabStops(parent)[0]?.focus({ preventScroll: true });
}

function newElement(/** @type {Block} */ { kind, key, lead, wide }, /** @type {string} */ name) {
  const node = element(kind === "details" ? "details" : "div", `block ${kind}-block`);
  node.dataset.block = name;
  if (key) node.classList.add(`st-key-${key}`);
  if (kind === "details") {
    const summary = element("summary", "");
    if (lead !== undefined) summary.append(element("h2", ""), element("span", "lead"));
    node.append(summary, element("div", "box-block"));
    node.toggleAttribute("open", wide === true && matchMedia(WIDE).matches);
    places.set(node, /** @type {HTMLElement} */ (node.lastChild));
  } else if (kind === "popover") {
    const box = element("div", "box-block opened", { popover: "auto", tabIndex: 0 }),
      opener = element("button", "opener");
    openBeside(opener, box);
    node.append(opener, box);
  } else if (kind === "hidden") {
    node.classList.add("box-block");
    node.hidden = true;
  } else if (kind in files) {
    const place = files[kind].isolated ? node.attachShadow({ mode: "open" }) : node;
    if (place instanceof ShadowRoot) adopt(place, [kind]);
    place.append(parsed(files[kind].html));
    places.set(node, place);
  }
  return node;
}

/** Changes a box whose blocks are drawn only while it is open, for they may fetch what takes the server long to make: a
 * popover, or a box that another component shows and hides, and tells so by the event "toggle". */
function changeClosed(/** @type {HTMLElement} */ node, /** @type {Block} */ { kind, label = "", blocks = [] }) {
  const isPopover = kind === "popover", box = isPopover ? find(node, ".opened") : node;
  const draw = (isOpen = isPopover ? box.matches(":popover-open") : !box.hidden) =>
    drawBlocks(box, isOpen ? blocks : []);
  if (isPopover) {
    write(find(node, ".opener"), label);
    box.onbeforetoggle = (event) => draw(/** @type {ToggleEvent} */ (event).newState === "open");
  } else box.ontoggle = () => draw();
  draw();
}

/** The nodes of HTML, without scripts, should any have come in with a text. */
function parsed(/** @type {string} */ text) {
  const nodes = document.createRange().createContextualFragment(text);
  for (const node of nodes.querySelectorAll("*")) {
    if (node instanceof HTMLScriptElement) node.remove();
    for (const { name } of [...node.attributes]) if (name.startsWith("on")) node.removeAttribute(name);
  }
  return nodes;
}

/** Draws a block anew where it has changed. */
function change(/** @type {HTMLElement} */ node, /** @type {Block} */ block) {
  const { kind, width } = block;
  if (width !== undefined) node.style.width = width === "content" ? "fit-content" : `${width}px`;
  if (kind === "html") {
    if (node.dataset.text !== block.text) node.replaceChildren(parsed(node.dataset.text = block.text ?? ""));
  } else if (kind === "text" || kind === "caption") write(node, block.text ?? "");
  else if (kind === "columns") drawColumns(node, block);
  else if (kind === "popover" || kind === "hidden") changeClosed(node, block);
  else if (kind === "box" || kind === "details") {
    node.classList.toggle("row", block.row === true);
    node.style.setProperty("--gap", `${block.gap ?? 1}rem`);
    if (block.lead !== undefined) write(find(node, ".lead"), block.lead);
    if (block.label !== undefined) write(find(node, block.lead === undefined ? "summary" : "h2"), block.label);
    drawBlocks(/** @type {Element} */ (places.get(node) ?? node), block.blocks ?? []);
  } else mount(node, block);
}

function drawColumns(/** @type {HTMLElement} */ node, /** @type {Block} */ { gap, shares = [], columns = [] }) {
  node.style.setProperty("--between", `${gap}rem`);
  while (node.children.length < shares.length) node.append(element("div", "box-block column"));
  shares.forEach((share, place) => {
    const column = /** @type {HTMLElement} */ (node.children[place]);
    column.style.setProperty("--share", String(share));
    drawBlocks(column, columns[place]);
  });
}

/** Mounts a component, and again where its data have changed. */
function mount(/** @type {HTMLElement} */ node, /** @type {Block} */ { kind, data }) {
  const text = JSON.stringify(data ?? null), state = components.get(node) ?? { text: undefined, cleanUp: undefined };
  components.set(node, state);
  // Where the page has gone on, a component does not find its view, which it does by where it stands.
  if (state.text === text || !node.isConnected) return;
  state.text = text;
  try {
    const module = attnvizModule(`ui/components/${kind}/${kind}.js`), parentElement = places.get(node) ?? node;
    state.cleanUp = module.default({ data, parentElement, setStateValue: setState }) ?? state.cleanUp;
  } catch (error) {
    reportError(error); // the other blocks are drawn all the same
  }
}

/** Ends what is mounted in an element. */
function end(/** @type {Element} */ node) {
  for (const each of [node, ...node.querySelectorAll(".block")]) {
    components.get(each)?.cleanUp?.();
    components.delete(each);
  }
}
