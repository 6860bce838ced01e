// Draws the decoder in the diagram: state, previous word and context lead to the new state and to the readout, which
// scores the words.

import { addStagePart } from "./attention.js";
import { addElement, addGroup, drawSymbol, drawVector, path, roundedPath } from "./svg.js";
import { TAPS } from "./terms.js";

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
    const [x, y] = decoder[name], ends = (plan.vertical || plan.compact) && name === "foils";
    const where = { x, y, "text-anchor": ends ? "end" : "start" };
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
  const origin = addElement(inputs, "path", { d: roundedPath(originPath(plan)), class: "line state origin" });
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
  addElement(parent, "text", {
    "data-text": name,
    "data-width": width - 12,
    x: x + width / 2,
    y: y + height / 2 + 6,
    class: `spelled ${name}`,
    "text-anchor": "middle",
  });
}

/** The three lines that lead to both boxes, dots where a box takes its input; returns their group.
 * @param {Element} root @param {DiagramPayload} payload @param {Plan} plan */
function drawLanes(root, payload, plan) {
  const { decoder: { before, previous, after, readout, lanes, word }, vertical } = plan;
  const current = payload.readout === "current", lines = addGroup(root, "lines");
  const taps = TAPS.map((share) => [after.x + after.width * share, readout.x + readout.width * share]);
  /** @type {(spots: Spot[], name: string) => Element} */
  const line = (spots, name) => addElement(lines, "path", { d: roundedPath(spots), class: `line ${name}` });
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
  if (current) {
    drawArrow(
      lines,
      [after.x + after.width + 3, after.y + 10],
      [readout.x - (vertical ? 30 : 34), readout.y + 10],
      "state",
    );
  }
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
  /** @type {(from: Spot[], left: number, to: Area) => void} */
  const back = (from, left, { y, height }) => {
    const across = y + height / 2, head = before.x - 40;
    addElement(part, "path", {
      d: roundedPath([...from, [left, from[from.length - 1][1]], [left, across], [head, across]]),
      class: "return",
    });
    addElement(part, "path", {
      d: `${path([[head, across - 3.5], [head + 7, across], [head, across + 3.5]])}Z`,
      class: "return head",
    });
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
  addElement(parent, "path", { d: path([[x0, y0], [x, y]]), class: `line ${name}` });
  addElement(parent, "path", {
    d: `${path([[x - b * 4, y + a * 4], [x1, y1], [x + b * 4, y - a * 4]])}Z`,
    class: `head ${name}`,
  });
}
