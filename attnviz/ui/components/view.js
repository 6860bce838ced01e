// The message bus of a view. Several views may stand on one page: what one shows is kept on its root element, and its
// components hear of a change by events on that element, so that nothing of a view is the whole page's.

const ROOT = "[class*='st-key-room']";

/** @type {WeakMap<Element, ViewRoot>} */
const viewRoots = new WeakMap();

/**
 * The element whose shadow root `node` is in, if it is in one.
 * @param {Element} node
 */
function hostOf(node) {
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/**
 * The root element of the view that `node` is part of, also from within a shadow root.
 * @param {Element} node
 * @returns {ViewRoot}
 */
export function viewOf(node) {
  const known = viewRoots.get(node);
  if (known) return known;
  /** @type {ViewRoot | null} */
  let root = null;
  /** @type {Element | null} */
  let here = node;
  for (; here && !root; here = hostOf(here)) root = here.closest(ROOT);
  if (!root) throw new Error("a component stands in no view");
  root.attnvizView ??= showIn(root);
  viewRoots.set(node, root);
  return root;
}

/**
 * What a view shows before anything is known of it. Its width is kept: to ask for it makes the browser lay out the page.
 * @param {Element} root
 * @returns {Shown}
 */
function showIn(root) {
  /** @type {Shown} */
  const view = {
    view: null,
    owner: null,
    now: null,
    orders: null,
    step: null,
    source: null,
    order: "sentence",
    words: "",
    speed: 1,
    held: false,
    touched: 0,
    changed: 0,
    queue: [],
    width: root.clientWidth,
  };
  new ResizeObserver(() => {
    view.width = root.clientWidth;
  }).observe(root);
  return view;
}

/**
 * What the view of `node` shows.
 * @param {Element} node
 * @returns {Shown}
 */
export const shown = (node) => viewOf(node).attnvizView;

/**
 * Sends a message to all components of the view of `node`.
 * @param {Element} node
 * @param {"shown" | "step" | "source" | "order" | "words" | "choose" | "try" | "hint" | "answered" | "preview" | "visit"} name
 * @param {unknown} [detail]
 */
export function send(node, name, detail) {
  shown(node).changed = performance.now();
  viewOf(node).dispatchEvent(new CustomEvent(`attnviz:${name}`, { detail }));
}

/**
 * Says that a visitor chose something in the view of `node`.
 * @param {Element} node
 * @param {Choice} choice
 */
export const chooseIn = (node, choice) => send(node, "choose", choice);

/**
 * Asks the server for what would be if something were otherwise in the view of `node`, or for another card.
 * @param {Element} node
 * @param {WhatIf} whatIf
 */
export const tryIn = (node, whatIf) => send(node, "try", whatIf);

/**
 * Shows in the view of `node` what a change by hand makes of the weights of the step, or with null those it has.
 * @param {Element} node
 * @param {WhatIf | null} whatIf
 */
export const preview = (node, whatIf) => send(node, "preview", whatIf);

/**
 * Says in the view of `node` at which source piece, or step, a visitor points; null where at none. Nothing on show changes
 * with it: what is fetched in its turn goes on.
 * @param {Element} node
 * @param {Pointed | null} pointed
 */
export const pointAt = (node, pointed) =>
  viewOf(node).dispatchEvent(new CustomEvent("attnviz:point", { detail: pointed }));

/**
 * Says in the view of `node` which weights are shown that are not those of the step, while they are pulled; null where none.
 * @param {Element} node
 * @param {number[] | null} weights
 */
export const weighIn = (node, weights) =>
  viewOf(node).dispatchEvent(new CustomEvent("attnviz:weigh", { detail: weights }));

/**
 * Calls `hear` at each message `name` of the view of `node`; returns what ends that.
 * @param {Element} node
 * @param {string} name
 * @param {(event: any) => void} hear
 * @returns {() => void}
 */
export function listenIn(node, name, hear) {
  const root = viewOf(node);
  root.addEventListener(`attnviz:${name}`, hear);
  return () => root.removeEventListener(`attnviz:${name}`, hear);
}

/**
 * Whether an event of the page belongs to the view of `node`: it happened in it, or in no view and this is the one that
 * was touched last.
 * @param {Element} node
 * @param {Event} event
 */
function belongsTo(node, event) {
  const roots = /** @type {NodeListOf<ViewRoot>} */ (document.querySelectorAll(ROOT));
  const views = [...roots].filter((root) => root.attnvizView);
  const path = event.composedPath();
  const [last] = views.toSorted((one, other) => other.attnvizView.touched - one.attnvizView.touched);
  return (views.find((root) => path.includes(root)) ?? last) === viewOf(node);
}

/**
 * Calls `onKey` at each key that belongs to the view of `root`, takes note of when a visitor touches it, and hears what
 * it says under the names of `heard`, until the returned function is called.
 * @param {HTMLElement} root
 * @param {(event: KeyboardEvent) => void} onKey
 * @param {Record<string, (event: any) => void>} heard
 */
export function attend(root, onKey, heard) {
  const view = viewOf(root), until = new AbortController(), { signal } = until;
  const touch = () => {
    shown(root).touched = performance.now();
  };
  document.addEventListener("keydown", (event) => {
    if (belongsTo(root, event)) onKey(event);
  }, { signal });
  for (const name of ["pointerdown", "focusin"]) view.addEventListener(name, touch, { signal });
  for (const [name, hear] of Object.entries(heard)) view.addEventListener(`attnviz:${name}`, hear, { signal });
  return () => until.abort();
}
