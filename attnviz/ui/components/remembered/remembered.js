// Has the browser remember a choice for the visits to come. A cookie, because that comes with the first word that the
// browser says to the server; it is sent nowhere else.

/** @param {Mounted<{ name: string, value: string | null, seconds: number }>} mounted */
export default function ({ data: { name, value, seconds } }) {
  if (value === null) return;
  const { pathname } = new URL(".", document.baseURI);
  document.cookie = `${name}=${value}; path=${pathname}; max-age=${seconds}; SameSite=Lax`;
}
