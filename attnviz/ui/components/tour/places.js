// Where on the page a stop is told: the part it is about, brought into the window, with a light on it and the card beside.

import { calm, find } from "../shared.js";
import { viewOf } from "../view.js";

const GAP = 14; // pixels between the light, the card and the edge of the window
const SHEET = 700; // pixels of a window below which the card is a sheet at its foot
const EDGE = 6; // pixels of light around what is lit
const BAR = 72; // pixels that the line at the top of the window takes, where it has not been seen yet

const SENTENCES = ".row:not(.shown)"; // of the player, which is apart from the page
const ENCODER = ".st-key-diagram .encoder :is(.ground, .annotation, .word)";

/**
 * What is lit of each place; above a sheet, where there is little room, the picture alone.
 * @type {Record<string, { all: string, picture: string }>}
 */
const PLACES = {
  heatmap: { all: ".st-key-heatmap", picture: ".st-key-heatmap .chart" },
  source: { all: SENTENCES, picture: SENTENCES },
  encoder: { all: ENCODER, picture: ENCODER },
  stage1: { all: ".st-key-stage_1", picture: ".st-key-stage_1 .chart" },
  stage2: { all: ".st-key-stage_2", picture: ".st-key-stage_2 .chart" },
  stage3: { all: ".st-key-stage_3", picture: ".st-key-stage_3 .chart" },
  stage5: { all: ".st-key-stage_5", picture: ".st-key-candidates .chart" },
};

const isSheet = () => innerWidth < SHEET;
export const page = () => document.querySelector("[data-testid=stMain]") ?? document.documentElement;

/**
 * Where the part of the page is that a stop is about, once it is there: what holds all that is lit of it.
 * @param {HTMLElement} root
 * @param {string} place
 * @returns {DOMRect | null}
 */
export function areaOf(root, place) {
  const selectors = PLACES[place];
  if (!selectors) return null;
  const selector = isSheet() ? selectors.picture : selectors.all;
  const parts = (selector === SENTENCES ? player(root) : viewOf(root))?.querySelectorAll(selector) ?? [];
  const areas = [...parts].map((part) => part.getBoundingClientRect()).filter(({ height }) => height > 0);
  if (!areas.length) return null;
  const left = Math.min(...areas.map((area) => area.left)), top = Math.min(...areas.map((area) => area.top));
  const right = Math.max(...areas.map((area) => area.right)), bottom = Math.max(...areas.map((area) => area.bottom));
  return new DOMRect(left, top, right - left, bottom - top);
}

/**
 * What is in the player of the view, once it is there.
 * @param {HTMLElement} root
 */
const player = (root) =>
  [...viewOf(root).querySelectorAll(".st-key-player *")].find((node) => node.shadowRoot)?.shadowRoot ?? null;

/** Below this nothing covers the window. @param {HTMLElement} root */
function topOf(root) {
  const bar = Number.parseFloat(viewOf(root).style.getPropertyValue("--bar"));
  return (bar || (isSheet() ? 1.5 * BAR : BAR)) + GAP;
}

/**
 * Brings what a stop is about into the window: above the sheet, or where the card has room beside it.
 * @param {HTMLElement} root
 * @param {DOMRect} area
 */
export function bringIntoSight(root, { top, bottom, height, width }) {
  const card = find(root, ".card");
  const wide = width + card.offsetWidth + 3 * GAP > innerWidth;
  const first = topOf(root), last = innerHeight - GAP - (isSheet() || wide ? card.offsetHeight + 2 * GAP : 0);
  if (top >= GAP && bottom <= last) return; // all of it is seen
  const by = top < first || height > last - first ? top - first : bottom - last;
  page().scrollBy({ top: by, behavior: calm() ? "auto" : "smooth" });
}

/**
 * Puts the light on a part of the page, and the card beside it.
 * @param {HTMLElement} root
 * @param {DOMRect | null} area
 * @param {boolean} asks whether the card has the page to itself
 */
export function light(root, area, asks) {
  const beam = find(root, ".light"), card = find(root, ".card");
  card.classList.toggle("sheet", isSheet());
  card.classList.toggle("asks", asks);
  const lit = area && seenOf(root, area, isSheet() ? innerHeight - card.offsetHeight : innerHeight + 2 * EDGE);
  beam.hidden = !lit;
  if (lit) {
    for (const side of /** @type {const} */ (["left", "top", "width", "height"])) {
      beam.style.setProperty(side, `${lit[side]}px`);
    }
  }
  if (isSheet()) {
    card.style.left = card.style.top = "";
    return;
  }
  const { left, top } = asks ? middle(card) : beside(card, lit);
  Object.assign(card.style, { left: `${left}px`, top: `${top}px` });
}

/**
 * What is to be seen of an area between the line at the top of the window and `foot`, with an edge around it.
 * @param {HTMLElement} root
 * @param {DOMRect} area
 * @param {number} foot
 */
function seenOf(root, area, foot) {
  const { left, width } = area, bar = player(root)?.querySelector(".bar");
  const head = isSheet() && bar?.checkVisibility() ? topOf(root) - GAP : -2 * EDGE;
  const top = Math.max(area.top - EDGE, head), bottom = Math.min(area.bottom + EDGE, foot - 2);
  const from = Math.max(left - EDGE, 2), to = Math.min(left + width + EDGE, innerWidth - 2);
  return bottom > top ? new DOMRect(from, top, to - from, bottom - top) : null;
}

/** @param {HTMLElement} card */
const middle = ({ offsetWidth, offsetHeight }) => ({
  left: (innerWidth - offsetWidth) / 2,
  top: Math.max(GAP, (innerHeight - offsetHeight) / 2.4),
});

/**
 * Where the card covers nothing of what is lit: to its right or left, below or above it, or else in the corner.
 * @param {HTMLElement} card
 * @param {DOMRect | null} lit
 */
function beside({ offsetWidth: width, offsetHeight: height }, lit) {
  const furthest = { left: innerWidth - width - GAP, top: innerHeight - height - GAP };
  const corner = { left: furthest.left - GAP, top: furthest.top };
  if (!lit) return corner;
  /** @type {(value: number, most: number) => number} */
  const within = (value, most) => Math.min(Math.max(value, GAP), Math.max(most, GAP));
  const level = within(lit.top, furthest.top), flush = within(lit.left, furthest.left);
  const places = [
    { left: lit.right + GAP, top: level },
    { left: lit.left - width - GAP, top: level },
    { left: flush, top: lit.bottom + GAP },
    { left: flush, top: lit.top - height - GAP },
  ];
  return places.find(({ left, top }) => left >= GAP && left <= furthest.left && top >= GAP && top <= furthest.top) ??
    corner;
}

/**
 * Shows something above all of the page, or no longer.
 * @param {HTMLElement} node
 * @param {boolean} whether
 */
export function showOver(node, whether) {
  if (!node.isConnected || node.matches(":popover-open") === whether) return;
  if (whether) node.showPopover();
  else node.hidePopover();
}
