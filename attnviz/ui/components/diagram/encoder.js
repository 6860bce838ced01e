// Draws the encoder in the diagram: the source pieces, the two directions that read them, and the annotations.

import { addElement, addGroup, area, colour, drawVector, path, spot } from "./svg.js";

/** @param {Element} root @param {DiagramPayload} payload @param {Plan} plan @param {DiagramNumbers} numbers */
export function drawEncoder(root, payload, plan, numbers) {
  const part = addGroup(root, "encoder");
  drawReadingLine(part, plan, plan.across.forward, true);
  drawReadingLine(part, plan, plan.across.backward, false);
  payload.joined.forEach((joined, j) => {
    if (!joined) return;
    const across = plan.vertical ? plan.across.forward[0] - 10 : plan.across.words + 7; // of a piece to the one before it
    const ends = [j - 1, j].map((k) => spot(plan, plan.columns[k].middle, across));
    addElement(part, "path", { d: path(ends), class: "joint" });
  });
  return plan.columns.map((_, j) => drawPiece(part, payload, plan, numbers.annotations[j], j));
}

/** The line along which one direction of the encoder reads, its arrow at the end.
 * @param {Element} parent @param {Plan} plan @param {[number, number]} row @param {boolean} forward */
function drawReadingLine(parent, plan, [from, to], forward) {
  const middle = (from + to) / 2, { first, columns } = plan, end = columns[columns.length - 1];
  const last = end.middle + end.width / 2, [tail, head] = forward ? [first - 4, last + 5] : [last + 4, first - 5];
  const back = head + (forward ? -6 : 6);
  /** @type {(along: number, across: number) => Spot} */
  const at = (along, across) => spot(plan, along, across);
  addElement(parent, "path", { d: path([at(tail, middle), at(head, middle)]), class: "reading" });
  addElement(parent, "path", {
    d: path([at(back, middle - 4), at(head, middle), at(back, middle + 4)]),
    class: "reading",
  });
}

/** A source piece with its annotation; returns their group, which a step marks.
 * @param {Element} parent @param {DiagramPayload} payload @param {Plan} plan @param {Float32Array} annotation
 * @param {number} j */
function drawPiece(parent, payload, plan, annotation, j) {
  const { columns, across, cell } = plan, { middle, width } = columns[j];
  const made = addGroup(parent, "piece"), half = payload.squares.annotation / 2;
  const start = middle - cell / 2, used = payload.attention !== "none";
  addElement(made, "rect", {
    ...area(plan, middle - width / 2, 0, width, used ? across.ribbons[0] : across.backward[1] + 6),
    class: "band",
  });
  writePiece(made, payload.sources[j], plan, j);
  for (const [row, from] of /** @type {const} */ ([[across.forward, 0], [across.backward, half]])) {
    const squares = drawVector(made, area(plan, start, row[0], cell, row[1] - row[0]), half, "half");
    colour(squares, annotation, payload.limits.annotation, from);
  }
  if (!used) return made;
  const [top, bottom] = [across.forward[0] - 5, across.backward[1] + 5], round = Math.min(5, (width - cell) / 2 - 1);
  addElement(made, "rect", {
    ...area(plan, start - round, top, cell + 2 * round, bottom - top),
    rx: round + 1,
    class: "annotation",
  });
  addElement(made, "path", { d: path([spot(plan, middle, bottom), spot(plan, middle, across.query)]), class: "key" });
  return made;
}

/** @param {Element} parent @param {string} text @param {Plan} plan @param {number} j */
function writePiece(parent, text, plan, j) {
  const { columns, across, letters, vertical, slanted } = plan, { middle } = columns[j];
  const style = `font-size: ${letters}px`;
  if (vertical) {
    addElement(parent, "text", { x: 0, y: middle + letters * 0.35, class: "word", style }, text.slice(0, 11));
    return;
  }
  const anchor = slanted ? "start" : "middle", at = { x: middle, y: across.words };
  const written = addElement(parent, "text", { ...at, class: "word", "text-anchor": anchor, style }, text);
  if (slanted) written.setAttribute("transform", `rotate(-52 ${middle} ${across.words})`);
}
