// Positions of the tour: scrolls to the part of the page that a stop is about, highlights it, and places the card
// beside it.

import { find, prefersReducedMotion } from "../elements.js";
import { viewRoot } from "../view.js";

const GAP = 14; // pixels between the highlight, the card and the edge of the window
const SHEET = 700; // pixels of a window below which the card is a sheet at its foot
const EDGE = 6; // pixels of the highlight around its part
const BAR = 72; // default height of the bar at the top of the window, in pixels
const SENTENCES = ".row:not(.shown)"; // in the shadow root of the player
const ENCODER = ".st-key-diagram .encoder :is(.ground, .annotation, .word)";

/** The place of a stage, or at the level Idea the picture that shows it. */
function stagePlace(/** @type {number} */ stage) {
  const all = `:is(.st-key-stage_${stage}, .st-key-one_picture)`;
  return { key: `stage_${stage}`, all, picture: `${all} .chart` };
}

/** The highlighted elements of each place, and the key of the container that they are in; above a sheet, where space is
 * short, the figure alone is highlighted.
 * @type {Record<string, { key: string, all: string, picture: string }>} */
const PLACES = {
  heatmap: { key: "heatmap", all: ".st-key-heatmap", picture: ".st-key-heatmap .chart" },
  source: { key: "player", all: SENTENCES, picture: SENTENCES },
  encoder: { key: "diagram", all: ENCODER, picture: ENCODER },
  stage1: stagePlace(1),
  stage2: stagePlace(2),
  stage3: stagePlace(3),
  stage5: { key: "stage_5", all: ".st-key-stage_5", picture: ".st-key-candidates .chart" },
};

/** The key of the container of a place; empty where none is highlighted. */
export const keyOf = (/** @type {string} */ place) => PLACES[place]?.key ?? "";

const isSheet = () => innerWidth < SHEET;
export const scrollContainer = () => document.querySelector("[data-testid=stMain]") ?? document.documentElement;

/** The bounding box of the part of the page that a stop is about; null until it is drawn.
 * @param {HTMLElement} root @param {string} place @returns {DOMRect | null} */
export function areaOf(root, place) {
  const selectors = PLACES[place];
  if (!selectors) return null;
  const selector = isSheet() ? selectors.picture : selectors.all;
  const parts = (selector === SENTENCES ? player(root) : viewRoot(root))?.querySelectorAll(selector) ?? [];
  const areas = [...parts].map((part) => part.getBoundingClientRect()).filter(({ height }) => height > 0);
  if (!areas.length) return null;
  const left = Math.min(...areas.map((area) => area.left)), top = Math.min(...areas.map((area) => area.top));
  const right = Math.max(...areas.map((area) => area.right)), bottom = Math.max(...areas.map((area) => area.bottom));
  return new DOMRect(left, top, right - left, bottom - top);
}

/** The shadow root of the view's player; null until it is mounted. */
const player = (/** @type {HTMLElement} */ root) =>
  [...viewRoot(root).querySelectorAll(".st-key-player *")].find((node) => node.shadowRoot)?.shadowRoot ?? null;

/** The top of the part of the window that nothing covers. */
function topOf(/** @type {HTMLElement} */ root) {
  const bar = Number.parseFloat(viewRoot(root).style.getPropertyValue("--bar"));
  return (bar || (isSheet() ? 1.5 * BAR : BAR)) + GAP;
}

/** Scrolls the part of a stop into the window: above the sheet, or where the card fits beside it. */
export function bringIntoSight(/** @type {HTMLElement} */ root, /** @type {DOMRect} */ { top, bottom, height, width }) {
  const card = find(root, ".card");
  const wide = width + card.offsetWidth + 3 * GAP > innerWidth;
  const first = topOf(root), last = innerHeight - GAP - (isSheet() || wide ? card.offsetHeight + 2 * GAP : 0);
  if (top >= GAP && bottom <= last) return; // fully visible
  const by = top < first || height > last - first ? top - first : bottom - last;
  scrollContainer().scrollBy({ top: by, behavior: prefersReducedMotion() ? "auto" : "smooth" });
}

/** Highlights a part of the page, and places the card beside it.
 * @param {HTMLElement} root @param {DOMRect | null} area
 * @param {boolean} isQuiz whether the card has the page to itself */
export function placeCard(root, area, isQuiz) {
  const highlight = find(root, ".light"), card = find(root, ".card");
  card.classList.toggle("sheet", isSheet());
  card.classList.toggle("asks", isQuiz);
  const visible = area && visiblePart(root, area, isSheet() ? innerHeight - card.offsetHeight : innerHeight + 2 * EDGE);
  highlight.hidden = !visible;
  if (visible) {
    for (const side of /** @type {const} */ (["left", "top", "width", "height"])) {
      highlight.style.setProperty(side, `${visible[side]}px`);
    }
  }
  if (isSheet()) {
    card.style.left = "";
    card.style.top = isQuiz ? `${quizPosition(root, card, 0).top}px` : "";
    return;
  }
  const { left, top } = isQuiz ? quizPosition(root, card, GAP) : positionBeside(card, visible);
  Object.assign(card.style, { left: `${left}px`, top: `${top}px` });
}

/** The visible part of an area between the bar at the top of the window and `foot`, with an edge around it.
 * @param {HTMLElement} root @param {DOMRect} area @param {number} foot */
function visiblePart(root, area, foot) {
  const { left, width } = area, bar = player(root)?.querySelector(".bar");
  const head = isSheet() && bar?.checkVisibility() ? topOf(root) - GAP : -2 * EDGE;
  const top = Math.max(area.top - EDGE, head), bottom = Math.min(area.bottom + EDGE, foot - 2);
  const from = Math.max(left - EDGE, 2), to = Math.min(left + width + EDGE, innerWidth - 2);
  return bottom > top ? new DOMRect(from, top, to - from, bottom - top) : null;
}

/** The position of the quiz: where the hidden part of the page begins, or at the top of the window, `gap` from its
 * edge. @param {HTMLElement} root @param {HTMLElement} card @param {number} gap */
const quizPosition = (root, { offsetWidth, offsetHeight }, gap) => ({
  left: (innerWidth - offsetWidth) / 2,
  top: Math.max(gap, Math.min(viewRoot(root).getBoundingClientRect().top, innerHeight - offsetHeight - gap)),
});

/** The position of the card that covers nothing of the highlight: right, left, below or above; or else in the corner.
 * @param {HTMLElement} card @param {DOMRect | null} visible */
function positionBeside({ offsetWidth: width, offsetHeight: height }, visible) {
  const furthest = { left: innerWidth - width - GAP, top: innerHeight - height - GAP };
  const corner = { left: furthest.left - GAP, top: furthest.top };
  if (!visible) return corner;
  /** @type {(value: number, most: number) => number} */
  const within = (value, most) => Math.min(Math.max(value, GAP), Math.max(most, GAP));
  const level = within(visible.top, furthest.top), flush = within(visible.left, furthest.left);
  const places = [
    { left: visible.right + GAP, top: level },
    { left: visible.left - width - GAP, top: level },
    { left: flush, top: visible.bottom + GAP },
    { left: flush, top: visible.top - height - GAP },
  ];
  return places.find(({ left, top }) => left >= GAP && left <= furthest.left && top >= GAP && top <= furthest.top) ??
    corner;
}
