// Creates the elements of attention in the diagram, and returns them: the line of the query to the keys, energies, weights,
// the ribbons to the context vector, and that vector. Their sizes, colours and numbers follow at each step (pose.js).

import { viewState } from "../view.js";
import { addElement, addGroup, area, drawSymbol, drawVector, roundedPath, spot } from "./svg.js";

/** @param {Element} root @param {DiagramPayload} payload @param {Plan} plan */
export function drawAttention(root, payload, plan) {
  const [energy, weight, context] = [1, 2, 3].map((stage) => addStagePart(root, stage));
  const numbered = (/** @type {Element} */ parent, /** @type {number} */ across, /** @type {string} */ name) =>
    across ? plan.columns.map((_, j) => addColumnNumber(parent, plan, across, name, j)) : [];
  const attends = payload.attention !== "none";
  const query = attends ? drawQueryLine(energy, plan) : { meetings: [] };
  const bars = attends ? plan.columns.map(() => addElement(energy, "rect", { class: "energy", rx: 1.5 })) : [];
  const columns = attends ? plan.columns : [plan.columns[plan.columns.length - 1]];
  return {
    ...query,
    energies: bars,
    energyNumbers: attends ? numbered(energy, plan.dense ? 0 : plan.across.energyNumber, "number") : [],
    weightNumbers: attends ? numbered(weight, plan.across.weight, "number weight") : [],
    ribbons: columns.map(() => addElement(weight, "path", { class: "ribbon", fill: `url(#${gradientId(root)})` })),
    ...drawContext(context, payload, plan),
  };
}

/** The id of the gradient of the ribbons, unique for each view on the page. @param {Element} drawing */
export const gradientId = (drawing) => `${viewState(drawing).name}-flow`;

/** The parts of a stage; a click on one leads to it. @param {Element} root @param {number} stage */
export function addStagePart(root, stage) {
  const part = addGroup(root, "part");
  part.dataset.stage = String(stage);
  return part;
}

/** The line of the query from the decoder's state to each key, and where it meets them.
 * @param {Element} parent @param {Plan} plan */
function drawQueryLine(parent, plan) {
  const { across, columns } = plan;
  const query = addElement(parent, "path", { d: roundedPath(queryPath(plan)), class: "line state query" });
  const meetings = columns.map(({ middle }) => {
    const [cx, cy] = spot(plan, middle, across.query);
    return addElement(parent, "circle", { cx, cy, r: 2.6, class: "meeting" });
  });
  return { query, meetings };
}

/** The way of the query from the decoder's state along all keys. @param {Plan} plan @returns {Spot[]} */
export function queryPath({ across, columns, decoder: { queryFrom: [x, y] }, vertical }) {
  const last = columns[columns.length - 1].middle, first = columns[0].middle;
  return vertical ? [[x, y], [across.query, first]] : [[x, y], [x, across.query], [last, across.query]];
}

/** @param {Element} parent @param {Plan} plan @param {number} across @param {string} name @param {number} j */
function addColumnNumber(parent, plan, across, name, j) {
  const { middle } = plan.columns[j];
  if (!plan.vertical) return addElement(parent, "text", { x: middle, y: across, class: name, "text-anchor": "middle" });
  return addElement(parent, "text", { x: across, y: middle + 4, class: name, "text-anchor": "end" });
}

/** The context vector, drawn at 0 along the sentence; each step moves it.
 * @param {Element} parent @param {DiagramPayload} payload @param {Plan} plan */
function drawContext(parent, payload, plan) {
  const [top, bottom] = plan.across.context, { flow } = plan;
  const contextLine = addElement(parent, "path", { class: "line context" });
  const context = addGroup(parent, "vector computed");
  const place = area(plan, -flow / 2, top, flow, bottom - top);
  const contextSquares = drawVector(context, place, payload.squares.context, "frame context");
  const [x, y] = plan.vertical ? [place.x + 2, place.y - 8] : [0, place.y + 18];
  const letter = drawSymbol(context, [x, y], "c", "⟦i⟧", { className: "context" });
  if (plan.vertical) return { context, contextSquares, contextLine, contextNames: [] };
  const mix = addElement(context, "text", { x, y: y - 1, class: "mix", "data-text": "mix" });
  return { context, contextSquares, contextLine, contextNames: [letter, mix] };
}
