// Values that the browser stores for a page or a tab. It may refuse, for instance in a private window.

/** Stores a value as JSON; null removes it.
 * @param {"localStorage" | "sessionStorage"} storage @param {string} name @param {unknown} value */
export function keep(storage, name, value) {
  try {
    if (value === null) window[storage].removeItem(name);
    else window[storage].setItem(name, JSON.stringify(value));
  } catch {
    // The value lasts as long as the page.
  }
}

/** The stored value; null where there is none.
 * @param {"localStorage" | "sessionStorage"} storage @param {string} name @returns {any} */
export function kept(storage, name) {
  try {
    return JSON.parse(window[storage].getItem(name) ?? "null");
  } catch {
    return null;
  }
}
