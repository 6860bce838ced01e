// State and messages of a view, a part of the page that shows one translation. Its state is on its root element, and
// its components send one another events on that element. A page may have several views.

const ROOT = "[class*='st-key-room']";
const GUEST = ".attnviz-guest"; // holds a view in a page of others

/** @type {WeakMap<Element, ViewRoot>} */
const viewRoots = new WeakMap();
let views = 0;

/** The element whose shadow root `node` is in, if it is in one. */
function hostOf(/** @type {Element} */ node) {
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** The root element of the view that `node` is part of, also from within a shadow root.
 * @param {Element} node @returns {ViewRoot} */
export function viewRoot(node) {
  const known = viewRoots.get(node);
  if (known) return known;
  /** @type {ViewRoot | null} */
  let root = null;
  /** @type {Element | null} */
  let here = node;
  for (; here && !root; here = hostOf(here)) root = here.closest(ROOT);
  if (!root) throw new Error("a component stands in no view");
  root.attnvizView ??= newState();
  viewRoots.set(node, root);
  return root;
}

/** The state of a new view. @returns {ViewState} */
function newState() {
  return {
    name: `attnviz-${views += 1}`,
    view: null,
    owner: null,
    now: null,
    alignment: null,
    step: null,
    source: null,
    order: "sentence",
    options: {},
    speed: null,
    playStep: null,
    held: false,
    touched: 0,
    changed: 0,
    queue: [],
    loading: 0,
  };
}

/** The root elements of the views that are drawn. */
export const drawnRoots = () =>
  /** @type {ViewRoot[]} */ ([...document.querySelectorAll(ROOT)]).filter(({ attnvizView }) => attnvizView);

/** The state of the view of `node`. @param {Element} node @returns {ViewState} */
export const viewState = (node) => viewRoot(node).attnvizView;

/** The playback speed in the view of `node`: the chosen one, or at the level Idea half of the usual one.
 * @param {Element} node */
export const speedOf = (node) => viewState(node).speed ?? (viewRoot(node).dataset.level === "idea" ? 0.5 : 1);

/** Sends a message to all components of the view of `node`.
 * @template {keyof ViewMessages} Name @param {Element} node @param {Name} name @param {ViewMessages[Name]} [detail] */
export function send(node, name, detail) {
  viewState(node).changed = performance.now();
  viewRoot(node).dispatchEvent(new CustomEvent(`attnviz:${name}`, { detail }));
}

/** Requests an intervention on the current step, which keeps or rewrites the translation as the visitor has chosen.
 * @param {Element} node @param {(step: number) => Intervention | Unfinished} intervention */
export function intervene(node, intervention) {
  const { step, held } = viewState(node);
  if (step !== null) send(node, "try", { intervention: intervention(step), held });
}

/** Sends in the view of `node` which source piece or step a visitor points at, or null. The selection does not change,
 * so `changed` stays as it is. In the parts that the tour darkens, nothing can be pointed at. */
export function sendPointed(/** @type {Element} */ node, /** @type {Pointed | null} */ pointed) {
  const root = viewRoot(node), { tour } = root.dataset;
  if (pointed && tour !== undefined && !(hostOf(node) ?? node).closest(`.st-key-${tour}`)) return;
  root.dispatchEvent(new CustomEvent("attnviz:point", { detail: pointed }));
}

/** Sends in the view of `node` the weights that are previewed; null where the step's own are shown. Meanwhile the
 * numbers computed from the step's own weights are faded (page.css). */
export function sendPreviewedWeights(/** @type {Element} */ node, /** @type {number[] | null} */ weights) {
  const root = viewRoot(node);
  root.toggleAttribute("data-previewed", weights !== null);
  root.dispatchEvent(new CustomEvent("attnviz:weigh", { detail: weights }));
}

/** Calls `listener` at each message `name` of the view of `node`, until `signal` aborts.
 * @template {keyof ViewMessages} Name @param {Element} node @param {Name} name
 * @param {(event: CustomEvent<ViewMessages[Name]>) => void} listener @param {AbortSignal} signal */
export const onMessage = (node, name, listener, signal) =>
  viewRoot(node).addEventListener(`attnviz:${name}`, /** @type {any} */ (listener), { signal });

/** The element that holds the view of `node` in a page of others; null on our pages. */
export const guestOf = (/** @type {Element} */ node) => viewRoot(node).closest(GUEST);

/** Whether an event of the page belongs to the view of `node`: it happened there, or in no view and this one was
 * touched last. */
function belongsTo(/** @type {Element} */ node, /** @type {Event} */ event) {
  const guest = guestOf(node), path = event.composedPath(); // there, keys belong to the view that has the focus
  if (guest) return path.includes(guest);
  const views = drawnRoots();
  const [last] = views.toSorted((one, other) => other.attnvizView.touched - one.attnvizView.touched);
  return (views.find((root) => path.includes(root)) ?? last) === viewRoot(node);
}

/** Calls `onKey` at each key that belongs to the view of `root`, and records when a visitor touches it, until `signal`
 * aborts. @param {HTMLElement} root @param {(event: KeyboardEvent) => void} onKey @param {AbortSignal} signal */
export function onViewKey(root, onKey, signal) {
  const touch = () => viewState(root).touched = performance.now();
  document.addEventListener("keydown", (event) => {
    if (belongsTo(root, event)) onKey(event);
  }, { signal });
  for (const name of ["pointerdown", "focusin"]) viewRoot(root).addEventListener(name, touch, { signal });
}
