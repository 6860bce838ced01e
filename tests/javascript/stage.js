// As much of a browser as the state of a view and the address need: events, a location and a history with entries.

class Root extends EventTarget {
  dataset = {};
  classList = { contains: () => true };
  clientWidth = 1000;
  isConnected = true;
  closest(selector) {
    return selector.includes("guest") ? null : this;
  }
  getRootNode() {
    return globalThis.document;
  }
}

const base = "http://page.test/";
const entries = [{ state: null, href: base }];
let at = 0;

globalThis.Element = globalThis.HTMLElement = globalThis.ShadowRoot = Root;
globalThis.HTMLButtonElement = class {};
globalThis.MutationObserver = globalThis.ResizeObserver = class {
  observe() {}
};
globalThis.document = Object.assign(new EventTarget(), {
  baseURI: base,
  documentElement: { toggleAttribute() {} },
  roots: [],
  querySelector: () => document.app,
  querySelectorAll: (selector) => selector.includes("st-key-room") ? document.roots : [],
});
Object.defineProperty(globalThis, "location", {
  value: {
    get href() {
      return entries[at].href;
    },
    get pathname() {
      return new URL(entries[at].href).pathname;
    },
    get search() {
      return new URL(entries[at].href).search;
    },
    get hash() {
      return new URL(entries[at].href).hash;
    },
  },
});
globalThis.history = {
  get state() {
    return entries[at].state;
  },
  get length() {
    return entries.length;
  },
  pushState(state, _, address) {
    entries.splice(at + 1, Infinity, { state: structuredClone(state), href: String(address) });
    at += 1;
  },
  replaceState(state, _, address) {
    entries[at] = { state: structuredClone(state), href: String(address) };
  },
};

export const root = () => {
  const made = new Root();
  document.roots.push(made);
  return made;
};

/** Goes to an address as a link does, before anything is shown. */
export const open = (place) => {
  entries[at].href = base + place;
};

/** Goes to another fragment of the address, as somebody who writes it there does. */
export function edit(fragment) {
  entries.splice(at + 1, Infinity, { state: null, href: String(new URL(fragment, entries[at].href)) });
  at += 1;
  dispatchEvent(new Event("popstate"));
}

/** Goes back or forward, as the browser does. */
export function go(by) {
  at += by;
  dispatchEvent(new Event("popstate", { cancelable: true }));
}

/** Goes to another page, as Streamlit does: in a new entry, with the query of the previous one. */
export const goToPage = (path) => history.pushState({}, "", base + path + location.search);

export const here = () => ({
  path: location.pathname,
  query: Object.fromEntries(new URL(entries[at].href).searchParams),
  fragment: Object.fromEntries(new URLSearchParams(new URL(entries[at].href).hash.slice(1))),
  entries: entries.length,
});
