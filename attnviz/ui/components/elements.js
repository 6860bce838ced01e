// Elements of the components: finding and making them, their texts, sizes, and scrolling; messages of the page.

import { MOST_SHADE } from "../../figures/constants.js";

/** State of each component on the page, by its root element. @type {WeakMap<Element, any>} */
export const states = new WeakMap();

/** The first element in `root` that matches `selector`; throws where there is none.
 * @template {Element} [Kind=HTMLElement] @param {ParentNode} root @param {string} selector
 * @param {new () => Kind} [kind] @returns {Kind} */
export function find(root, selector, kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`there is no ${selector}`);
  return /** @type {Kind} */ (found);
}

/** All elements in `root` that match `selector`.
 * @template {Element} [Kind=HTMLElement] @param {ParentNode} root @param {string} selector
 * @param {new () => Kind} [kind] @returns {Kind[]} */
export function findAll(root, selector, kind) {
  return /** @type {Kind[]} */ ([...root.querySelectorAll(selector)].filter((node) =>
    node instanceof (kind ?? HTMLElement)
  ));
}

/** The tab stops inside `root`, also within shadow roots. @param {ParentNode} root @returns {HTMLElement[]} */
export function tabStops(root) {
  return findAll(root, "*").flatMap((node) => [
    ...(node.tabIndex >= 0 && !node.matches(":disabled") && node.checkVisibility() ? [node] : []),
    ...(node.shadowRoot ? tabStops(node.shadowRoot) : []),
  ]);
}

/** The element with the focus, also within shadow roots. */
export function focused() {
  let here = document.activeElement;
  while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
  return here;
}

/** Draws rows of `width` pixels, each of red, green, blue and opacity from 0 to 255.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number[][]} pixels */
export function drawPixels(canvas, width, pixels) {
  Object.assign(canvas, { width, height: pixels.length / width });
  canvas.getContext("2d")?.putImageData(new ImageData(Uint8ClampedArray.from(pixels.flat()), width), 0, 0);
}

/** Marks the elements of words that have no space between them. */
export function markAdjoining(/** @type {HTMLElement[]} */ nodes, /** @type {{ space: boolean }[]} */ words) {
  for (let k = 1; k < nodes.length; k++) {
    if (words[k].space) continue;
    nodes[k - 1].classList.add("adjoins-next");
    nodes[k].classList.add("adjoins-previous");
  }
}

/** An element with a class, or "", and what is in it, nodes and texts, which are never markup, as they may quote the visitor; or
 * its properties, data and styles. A button submits no form.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} className
 * @param {(string | Node | ElementProperties<HTMLElementTagNameMap[Tag]> | undefined)[]} contents */
export function element(tag, className, ...contents) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (made instanceof HTMLButtonElement) made.type = "button";
  for (const part of contents) {
    if (typeof part === "string" || part instanceof Node) {
      made.append(part);
      continue;
    }
    const { dataset, style = {}, ...properties } = part ?? {};
    Object.assign(Object.assign(made, properties).dataset, dataset);
    for (const [name, value] of Object.entries(style)) made.style.setProperty(name, value);
  }
  return made;
}

/** A button that calls `act` when it is pressed (onPress), and what is in it, as in `element`.
 * @param {string} className @param {(event: MouseEvent) => void} act
 * @param {Parameters<typeof element<"button">>[2][]} contents */
export function button(className, act, ...contents) {
  const made = element("button", className, ...contents);
  onPress(made, act);
  return made;
}

/** The shade behind a word, stronger with the square root of its weight. */
export const shade = (/** @type {HTMLElement} */ word, /** @type {number} */ weight) =>
  word.style.setProperty("--weight", `${Math.round(100 * MOST_SHADE * Math.sqrt(weight))}%`);

export function write(/** @type {Element} */ node, /** @type {string} */ text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Writes texts into the elements of a component that say them, and as labels of those that are named so, also the
 * root. */
export function writeTexts(/** @type {HTMLElement} */ root, /** @type {Words} */ words) {
  for (const node of [root, ...findAll(root, "[data-say], [data-label]")]) {
    const { say = "", label = "" } = node.dataset;
    if (say in words) write(node, words[say]);
    if (label in words && node.ariaLabel !== words[label]) node.ariaLabel = words[label]; // or styles are computed
  }
}

/** @type {(work: () => void) => void} */
export const whenIdle = typeof requestIdleCallback === "function"
  ? (work) => requestIdleCallback(work, { timeout: 1000 })
  : (work) => setTimeout(work, 50);

/** Calls `act` at each click on a button, which loses the focus after one with a mouse. */
export function onPress(/** @type {HTMLElement} */ button, /** @type {(event: MouseEvent) => void} */ act) {
  button.onclick = (event) => {
    act(event);
    if (event.detail > 0) button.blur();
  };
}

/** Calls `act` as soon as it has the size of each element, and at each change of one, until `signal` aborts.
 * @param {() => void} act @param {AbortSignal} signal @param {(Element | null | undefined)[]} elements */
export function onResize(act, signal, ...elements) {
  const sizes = new ResizeObserver(act);
  for (const one of elements) if (one) sizes.observe(one);
  signal.addEventListener("abort", () => sizes.disconnect());
}

/** Lets keys scroll an element while its contents are wider than it: keyboard.js leaves them the arrow keys. Fades the
 * edges beyond which there is more. */
export function makeScrollable(/** @type {HTMLElement} */ node) {
  const { scrollLeft, scrollWidth, clientWidth } = node, scrolls = scrollWidth > clientWidth + 1;
  node.classList.toggle("more-left", scrollLeft > 1);
  node.classList.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 1);
  if (node.hasAttribute("data-scrolls") === scrolls) return;
  node.toggleAttribute("data-scrolls", scrolls);
  node.onscroll = scrolls ? () => makeScrollable(node) : null;
  if (scrolls) node.tabIndex = 0;
  else node.removeAttribute("tabindex");
}

/** Whether the visitor's system asks for reduced motion. */
export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Sends a message to all that listen on the page.
 * @template {keyof PageMessages} Name @param {Name} name @param {PageMessages[Name]} [detail] */
export const tellPage = (name, detail) => document.dispatchEvent(new CustomEvent(`attnviz:${name}`, { detail }));

/** Calls `listener` at each message `name` of the page, until `signal` aborts.
 * @template {keyof PageMessages} Name @param {Name} name
 * @param {(event: CustomEvent<PageMessages[Name]>) => void} listener @param {AbortSignal} [signal] */
export const onPageMessage = (name, listener, signal) =>
  document.addEventListener(`attnviz:${name}`, /** @type {any} */ (listener), { signal });

/** @param {Element | null} node @param {ScrollLogicalPosition} [block] */
export const scrollSmoothly = (node, block = "start") =>
  node?.scrollIntoView({ block, behavior: prefersReducedMotion() ? "auto" : "smooth" });

const KEEP_TIME = 30000; // milliseconds for which a visited place is kept in the window
const REST_TIME = 150; // milliseconds without movement, after which the page is at rest

/** Scrolls to a place again whenever figures that are drawn later have moved it, until the visitor does something else.
 * @param {Element} place
 * @param {"start" | "nearest"} [block] where it is to be in the window; "nearest" moves the page as little as possible
 */
export function keepInWindow(place, block = "start") {
  /** @type {ScrollBehavior} */
  const behavior = block === "nearest" && !prefersReducedMotion() ? "smooth" : "auto";
  const controller = new AbortController();
  const options = { capture: true, signal: AbortSignal.any([controller.signal, AbortSignal.timeout(KEEP_TIME)]) };
  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(name, () => controller.abort(), options);
  }
  let rest = 0;
  const onMovement = () => {
    clearTimeout(rest);
    rest = setTimeout(() => {
      if (options.signal.aborted) return;
      const { top, height } = place.getBoundingClientRect();
      if (block === "nearest" && height < innerHeight) place.scrollIntoView({ block, behavior });
      else if (top < 0 || top > innerHeight / 2) place.scrollIntoView({ block: "start", behavior });
    }, REST_TIME);
  };
  const page = place.closest(".stMain");
  page?.addEventListener("scroll", onMovement, options);
  onResize(onMovement, options.signal, place, page?.firstElementChild);
}

/** @param {ChangedWord[]} words @param {(word: string) => string} [removed] the description of a removed word */
export const changedWords = (words, removed) =>
  words.flatMap(({ text, kind, space }) => {
    const node = element(kind === "same" ? "span" : kind === "gone" ? "del" : "mark", "", text);
    if (kind === "gone" && removed) node.title = removed(text);
    return space ? [" ", node] : [node];
  });
