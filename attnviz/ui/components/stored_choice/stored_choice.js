// Stores a visitor's choice in a cookie for a year: unlike local storage, cookies reach the server with the first
// request.

const YEAR = 365 * 24 * 60 * 60; // seconds

export function remember(/** @type {string} */ name, /** @type {string} */ value) {
  const { pathname } = new URL(".", document.baseURI);
  document.cookie = `${name}=${value}; path=${pathname}; max-age=${YEAR}; SameSite=Lax`;
}

/** @param {Mounted<{ name: string, value: string | null }>} mounted */
export default function ({ data: { name, value } }) {
  if (value !== null) remember(name, value);
}
