// Word links that a visitor draws: read from and written as text, changed by a click, and used as gold links.
// A click changes a link from none to sure, then to possible, then to none. The links of the attention are scored
// against the drawn ones: AER, precision, recall, and the links that were not drawn.

export const nameOf = (/** @type {LinkPair} */ [source, target]) => `${source}-${target}`;

/** Reads links as `GoldLinks.text` of the server writes them: `0-0` sure, `1?2` possible.
 * @param {string} text @returns {DrawnLinks} */
export function readLinks(text) {
  const links = text.split(" ").filter(Boolean).map((link) => {
    const kind = link.includes("?") ? "possible" : "sure";
    return /** @type {const} */ ([link.replace("?", "-"), kind]);
  });
  return new Map(links);
}

/** The links as text, sorted by target word. */
export function linksText(/** @type {DrawnLinks} */ links) {
  return pairsOf(links).map(({ kind, link: [source, target] }) => `${source}${kind === "sure" ? "-" : "?"}${target}`)
    .join(" ");
}

/** The links as pairs of words with their kinds, sorted by target word. */
export function pairsOf(/** @type {DrawnLinks} */ links) {
  const pairs = [...links].map(([name, kind]) => {
    const [source, target] = name.split("-").map(Number);
    return { kind, link: /** @type {LinkPair} */ ([source, target]) };
  });
  return pairs.sort(({ link: one }, { link: other }) => one[1] - other[1] || one[0] - other[0]);
}

/** The links after a link is set to its next kind: none, sure, possible, none.
 * @param {DrawnLinks} links @param {LinkPair} link @returns {DrawnLinks} */
export function advanced(links, link) {
  const changed = new Map(links), name = nameOf(link), kind = links.get(name);
  if (kind === "possible") changed.delete(name);
  else changed.set(name, kind === "sure" ? "possible" : "sure");
  return changed;
}

/** AER, precision and recall (Och & Ney 2003) of the links of the attention, and those that were not drawn; the rates
 * are null where there is nothing to compare. */
export function scoreOf(/** @type {LinkPair[]} */ found, /** @type {DrawnLinks} */ links) {
  const kinds = found.map((link) => links.get(nameOf(link)));
  const hits = kinds.filter(Boolean).length, sureHits = kinds.filter((kind) => kind === "sure").length;
  const sure = [...links.values()].filter((kind) => kind === "sure").length;
  const wrong = found.filter((_, index) => !kinds[index]);
  if (!found.length && !sure) return { rates: null, wrong };
  const rates = {
    aer: 1 - (sureHits + hits) / (found.length + sure),
    precision: hits / Math.max(1, found.length),
    recall: sureHits / Math.max(1, sure),
  };
  return { rates, wrong };
}
