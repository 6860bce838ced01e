// Creates the elements of the diagram, and returns those that change with the step. The encoder: the source pieces, the two
// directions that read them, and the annotations. Attention: the line of the query to the keys, energies, weights, the
// ribbons to the context vector, and that vector. The decoder: state, previous word and context lead to the new state and
// to the readout, which scores the words.

import { viewState } from "../view.js";
import { TAPS } from "./plan.js";
import { addElement, addGroup, addPath, area, colour, drawSymbol, drawVector, path, roundedPath, spot } from "./svg.js";

/** @param {Element} root @param {DiagramPayload} payload @param {Plan} plan @param {DiagramNumbers} numbers */
export function drawEncoder(root, payload, plan, numbers) {
  const part = addGroup(root, "encoder");
  drawReadingLine(part, plan, plan.across.forward, true);
  drawReadingLine(part, plan, plan.across.backward, false);
  payload.joined.forEach((joined, j) => {
    if (!joined) return;
    const across = plan.vertical ? plan.across.forward[0] - 10 : plan.across.words + 7; // of a piece to the one before it
    const ends = [j - 1, j].map((k) => spot(plan, plan.columns[k].middle, across));
    addPath(part, path(ends), "joint");
  });
  return plan.columns.map((_, j) => drawPiece(part, payload, plan, numbers.annotations[j], j));
}

/** The line along which one direction of the encoder reads, its arrow at the end.
 * @param {Element} parent @param {Plan} plan @param {[number, number]} row @param {boolean} forward */
function drawReadingLine(parent, plan, [from, to], forward) {
  const middle = (from + to) / 2, { first, columns } = plan, end = columns[columns.length - 1];
  const last = end.middle + end.width / 2, [tail, head] = forward ? [first - 4, last + 5] : [last + 4, first - 5];
  const back = head + (forward ? -6 : 6);
  const at = (/** @type {number} */ along, /** @type {number} */ across) => spot(plan, along, across);
  addPath(parent, path([at(tail, middle), at(head, middle)]), "reading");
  addPath(parent, path([at(back, middle - 4), at(head, middle), at(back, middle + 4)]), "reading");
}

/** A source piece with its annotation; returns their group, which a step marks.
 * @param {Element} parent @param {DiagramPayload} payload @param {Plan} plan @param {Float32Array} annotation
 * @param {number} j */
function drawPiece(parent, payload, plan, annotation, j) {
  const { columns, across, cell } = plan, { middle, width } = columns[j];
  const made = addGroup(parent, "piece"), half = payload.squares.annotation / 2;
  const start = middle - cell / 2, used = payload.attention !== "none";
  const band = area(plan, middle - width / 2, 0, width, used ? across.ribbons[0] : across.backward[1] + 6);
  addElement(made, "rect", { ...band, class: "band" });
  writePiece(made, payload.sources[j], plan, j);
  for (const [row, from] of /** @type {const} */ ([[across.forward, 0], [across.backward, half]])) {
    const squares = drawVector(made, area(plan, start, row[0], cell, row[1] - row[0]), half, "half");
    colour(squares, annotation, payload.limits.annotation, from);
  }
  if (!used) return made;
  const [top, bottom] = [across.forward[0] - 5, across.backward[1] + 5], round = Math.min(5, (width - cell) / 2 - 1);
  const around = area(plan, start - round, top, cell + 2 * round, bottom - top);
  addElement(made, "rect", { ...around, rx: round + 1, class: "annotation" });
  addPath(made, path([spot(plan, middle, bottom), spot(plan, middle, across.query)]), "key");
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

/** The id of the gradient of the ribbons, unique for each view on the page. */
export const gradientId = (/** @type {Element} */ drawing) => `${viewState(drawing).name}-flow`;

/** The parts of a stage; a click on one leads to it. */
function addStagePart(/** @type {Element} */ root, /** @type {number} */ stage) {
  const part = addGroup(root, "part");
  part.dataset.stage = String(stage);
  return part;
}

/** The line of the query from the decoder's state to each key, and where it meets them. */
function drawQueryLine(/** @type {Element} */ parent, /** @type {Plan} */ plan) {
  const { across, columns } = plan;
  const query = addPath(parent, roundedPath(queryPath(plan)), "line state query");
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

/** @param {Element} root @param {DiagramPayload} payload @param {Plan} plan
 * @param {boolean} explained whether the view has cards of its terms */
export function drawDecoder(root, payload, plan, explained) {
  const { decoder } = plan, { squares: { state, readout }, words } = payload;
  const inputs = addGroup(root, "given"), before = addGroup(inputs, "vector"), previous = addGroup(inputs, "vector");
  const [update, output] = [4, 5].map((stage) => addStagePart(root, stage));
  const lanes = drawLanes(root, payload, plan);
  drawReturns(root, payload, plan);
  const beforeSquares = drawVector(before, decoder.before, state, "frame state");
  drawWordBox(previous, decoder.previous, "previous");
  const made = [update, output, output].map((part) => addGroup(part, "vector computed"));
  const afterSquares = drawVector(made[0], decoder.after, state, "frame state");
  const readoutSquares = drawVector(made[1], decoder.readout, readout, "frame");
  drawWordBox(made[2], decoder.word, "written");
  for (const name of /** @type {const} */ (["likely", "foils"])) {
    const [x, y] = decoder[name], ends = name === "foils" && (plan.vertical || x === plan.width - 2);
    const where = { x, y, "text-anchor": ends ? "end" : "start", "data-width": ends ? x : plan.width - x };
    addElement(output, "text", { ...where, class: `${name} computed`, "data-text": name });
  }
  /** @type {(parent: Element, place: Area, letter: string, index: string) => SVGElement} */
  const name = (parent, { x, y, height }, letter, index) =>
    drawSymbol(parent, [x - 28, y + height / 2 + 5], letter, index);
  name(inputs, decoder.before, "s", "⟦before⟧");
  name(inputs, decoder.previous, "y", "⟦before⟧");
  name(update, decoder.after, "s", "⟦i⟧");
  name(output, decoder.readout, "t", "⟦i⟧");
  name(output, decoder.word, "y", "⟦i⟧");
  writeBoxName(update, decoder.after, words.cell, explained);
  writeBoxName(output, decoder.readout, words.maxout, explained);
  const origin = addPath(inputs, roundedPath(originPath(plan)), "line state origin");
  return { origin, lanes, before, previous, beforeSquares, afterSquares, readoutSquares, made };
}

/** The line from the backward half of the first annotation to the initial state.
 * @param {Plan} plan @returns {Spot[]} */
function originPath({ vertical, across: { backward }, columns: [first], cell, decoder: { before } }) {
  const middle = (backward[0] + backward[1]) / 2;
  if (vertical) return [[backward[1] + 2, first.middle], [160, first.middle], [160, before.y - 2]];
  const down = before.x + 24;
  return [[first.middle - cell / 2 - 2, middle], [down, middle], [down, before.y - 2]];
}

/** @param {Element} parent @param {Area} place @param {string} text
 * @param {boolean} explained whether the card of its stage explains it (components/terms) */
function writeBoxName(parent, { x, y }, text, explained) {
  const name = addElement(parent, "text", { x: x - 24, y: y - 9, class: "function" }, text);
  if (!explained) return;
  name.classList.add("term");
  name.dataset.term = "";
}

/** A word in its frame. @param {Element} parent @param {Area} place @param {"previous" | "written"} name */
function drawWordBox(parent, { x, y, width, height }, name) {
  addElement(parent, "rect", { x, y, width, height, rx: 6, class: `chip ${name}` });
  const middle = { x: x + width / 2, y: y + height / 2 + 6, "text-anchor": "middle" };
  addElement(parent, "text", { ...middle, "data-text": name, "data-width": width - 12, class: `spelled ${name}` });
}

/** The three lines that lead to both boxes, dots where a box takes its input; returns their group.
 * @param {Element} root @param {DiagramPayload} payload @param {Plan} plan */
function drawLanes(root, payload, plan) {
  const { decoder: { before, previous, after, readout, lanes, word }, vertical } = plan;
  const current = payload.readout === "current", lines = addGroup(root, "lines");
  const taps = TAPS.map((share) => [after.x + after.width * share, readout.x + readout.width * share]);
  /** @type {(spots: Spot[], name: string) => Element} */
  const line = (spots, name) => addPath(lines, roundedPath(spots), `line ${name}`);
  const end = current ? taps[0][0] : taps[0][1];
  if (vertical) {
    const down = before.x + before.width / 2;
    line([[down, before.y + before.height], [down, lanes.state], [end, lanes.state]], "state");
    line([[down, lanes.state], [taps[0][0], lanes.state]], "state");
    const under = previous.x + previous.width / 2;
    line([[under, previous.y + previous.height], [under, lanes.word], [taps[2][1], lanes.word]], "word");
  } else {
    line([[before.x + before.width + 2, lanes.state], [end, lanes.state]], "state");
    line([[previous.x + previous.width, lanes.word], [taps[2][1], lanes.word]], "word");
  }
  [lanes.state, lanes.context, lanes.word].forEach((y, k) => {
    taps[k].forEach((x, box) => {
      if (k === 0 && box === 1 && current) return;
      const name = ["state", "context", "word"][k];
      addElement(lines, "circle", { cx: x, cy: y, r: 3.6, class: `dot ${name}` });
      drawArrow(lines, [x, y], [x, after.y - 3], name);
    });
  });
  const beside = readout.x - (vertical ? 30 : 34);
  if (current) drawArrow(lines, [after.x + after.width + 3, after.y + 10], [beside, readout.y + 10], "state");
  if (vertical) drawArrow(lines, [readout.x + 20, readout.y + 24], [readout.x + 20, word.y - 3], "word");
  else drawArrow(lines, [readout.x + readout.width + 4, readout.y + 10], [word.x - 36, readout.y + 10], "word");
  return lines;
}

/** The return lines: the new state and the new word are inputs of the next step.
 * @param {Element} root @param {DiagramPayload} payload @param {Plan} plan */
function drawReturns(root, { words }, { compact, decoder: { before, previous, after, word }, vertical, height }) {
  if (vertical) return;
  const part = addGroup(root, "returns"), right = after.x + after.width, low = height - (compact ? 14 : 17);
  const around = right + (compact ? 16 : 58), outer = before.x - (compact ? 54 : 74);
  const back = (/** @type {Spot[]} */ from, /** @type {number} */ left, /** @type {Area} */ { y, height }) => {
    const across = y + height / 2, head = before.x - 40;
    addPath(part, roundedPath([...from, [left, from[from.length - 1][1]], [left, across], [head, across]]), "return");
    addPath(part, `${path([[head, across - 3.5], [head + 7, across], [head, across + 3.5]])}Z`, "return head");
  };
  const beside = after.y + after.height / 2;
  back([[right + 3, beside], [around, beside], [around, low]], outer + 10, before);
  const under = word.x + word.width / 2;
  back([[under, word.y + word.height + 3], [under, height - 5]], outer, previous);
  if (!compact) addElement(part, "text", { x: outer + 20, y: low - 6, class: "again" }, words.again);
}

/** @param {Element} parent @param {Spot} from @param {Spot} to @param {string} name */
function drawArrow(parent, [x0, y0], [x1, y1], name) {
  const far = Math.hypot(x1 - x0, y1 - y0), [a, b] = [(x1 - x0) / far, (y1 - y0) / far];
  const [x, y] = [x1 - a * 6, y1 - b * 6];
  addPath(parent, path([[x0, y0], [x, y]]), `line ${name}`);
  addPath(parent, `${path([[x - b * 4, y + a * 4], [x1, y1], [x + b * 4, y - a * 4]])}Z`, `head ${name}`);
}
