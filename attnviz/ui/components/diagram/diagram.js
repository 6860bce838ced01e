// The architecture diagram: the computation of the current step, from the English pieces to the French one. It is drawn once
// for a sentence; a step changes only what differs.

import { newClock } from "../clock.js";
import { component } from "../component.js";
import { find, findAll, onResize, prefersReducedMotion, write } from "../elements.js";
import { scaleFactor } from "../plots.js";
import { onMessage, send, sendPointed, viewRoot, viewState } from "../view.js";
import { drawNames, drawTerms } from "./names.js";
import { drawAttention, drawDecoder, drawEncoder, gradientId } from "./parts.js";
import { planFor } from "./plan.js";
import { animateTo, drawPose, unpackNumbers } from "./pose.js";
import { endShow, listenToShow, newShow, rowOf, showStep } from "./show_step.js";
import { addElement, addGroup, area, writeFitted } from "./svg.js";

/** Draws all that is the same at every step.
 * @param {DiagramState} state @param {DiagramPayload} payload @returns {DiagramDrawing} */
function drawPlan(state, payload) {
  const { root } = state, drawing = find(root, ".drawing", SVGElement), scale = scaleFactor();
  const plan = planOf(root, payload, state.thin), numbers = unpackNumbers(payload);
  drawing.replaceChildren();
  drawing.setAttribute("width", String(plan.width * scale));
  drawing.setAttribute("height", String(plan.height * scale));
  drawing.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
  addFlowGradient(drawing, plan);
  const attention = drawAttention(drawing, payload, plan);
  const columns = drawEncoder(drawing, payload, plan, numbers);
  const decoder = drawDecoder(drawing, payload, plan, (viewState(root).view?.terms.cards.length ?? 0) > 0);
  drawNames(drawing, payload, plan, state.stages, textMeasure(root, "--sans"));
  Object.assign(state, { pose: undefined, step: null });
  state.show.drawn = null;
  drawTerms(drawing, payload, plan);
  const texts = Object.groupBy(findAll(drawing, "[data-text]", SVGTextElement), ({ dataset }) => dataset.text ?? "");
  const parts = { ...attention, ...decoder, columns, texts };
  addColumnTargets(root, drawing, plan, parts);
  root.classList.toggle("dense", plan.dense);
  root.classList.toggle("thin", Boolean(state.thin));
  root.classList.toggle("vertical", plan.vertical);
  return { payload, numbers, plan, parts };
}

/** Gives the drawing the height that it will have, so that nothing moves when its numbers arrive. */
function reserve(/** @type {DiagramState} */ { root, formulas }, /** @type {Omit<Outline, "terms">} */ outline) {
  const scale = scaleFactor(), thin = isThin(root) && outline.attention !== "none";
  const plan = planOf(root, { ...outline, terms: formulas && scale === 1 }, thin);
  find(root, ".drawing", SVGElement).setAttribute("height", String(plan.height * scale));
}

/** The plan for the width of the component. @param {HTMLElement} root @param {Outline} outline @param {boolean} [thin] */
const planOf = (root, outline, thin) =>
  planFor(outline, find(root, ".scroll").clientWidth / scaleFactor(), textMeasure(root, "--serif"), thin);

/** Whether the page wants a thin diagram (page.css). */
const isThin = (/** @type {HTMLElement} */ root) => getComputedStyle(root).getPropertyValue("--thin-diagram") === "1";

/** Returns a function that measures the width of a text in the font of a custom property. */
function textMeasure(/** @type {HTMLElement} */ root, /** @type {"--serif" | "--sans"} */ font) {
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(root).getPropertyValue(font) || "serif";
  return (/** @type {string} */ text, /** @type {number} */ letters) => {
    if (!pen) return text.length * letters * 0.5;
    pen.font = `${letters}px ${family}`;
    return pen.measureText(text).width;
  };
}

/** The colours of the ribbons: weights are grey, and what they flow into is orange.
 * @param {Element} drawing @param {Plan} plan */
function addFlowGradient(drawing, { vertical, across: { ribbons: [from, to] } }) {
  const ends = vertical ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to };
  const attributes = { id: gradientId(drawing), gradientUnits: "userSpaceOnUse", ...ends };
  const colours = addElement(addElement(drawing, "defs", {}), "linearGradient", attributes);
  addElement(colours, "stop", { offset: 0.15, style: "stop-color: var(--attention)" });
  addElement(colours, "stop", { offset: 0.95, style: "stop-color: var(--context)" });
}

/** Writes the texts and numbers of a step.
 * @param {HTMLElement} root @param {DiagramDrawing} drawing @param {number} k its row in the payload */
function writeStep(root, { payload, parts }, k) {
  const { previous, written, likely, foils, mixes: mix, words } = payload, i = payload.steps[k] + 1;
  for (const node of findAll(root, "[data-index]", SVGElement)) {
    write(node, (node.dataset.index ?? "").replace("⟦i⟧", String(i)).replace("⟦before⟧", String(i - 1)));
  }
  const texts = { previous, written, likely, foils, mix, state: { [k]: i === 1 ? words.start : words.state } };
  for (const [name, values] of Object.entries(texts)) {
    for (const node of parts.texts[name] ?? []) writeFitted(node, values[k]);
  }
  find(root, ".drawing", SVGElement).setAttribute("aria-label", payload.alts[k]);
  parts.origin.toggleAttribute("hidden", i > 1);
  root.classList.toggle("changed-by-hand", payload.byHand[k]);
  root.classList.toggle("frozen", payload.frozen);
}

/** Marks the current source piece, and the one that is pointed at. */
function markPiece(/** @type {DiagramState} */ { root, diagram, pointed }) {
  const { source } = viewState(root), lit = pointed ?? source, { columns = [], ribbons = [] } = diagram?.parts ?? {};
  root.classList.toggle("pointing", pointed !== null);
  columns.forEach((column, j) => {
    column.classList.toggle("seen", j === source);
    column.classList.toggle("lit", j === pointed);
  });
  ribbons.forEach((ribbon, j) => ribbon.classList.toggle("seen", ribbons.length === 1 || j === lit));
}

/** Moves the new state and word of the previous step to their places as inputs, when going one step onward.
 * @param {DiagramDrawing} drawing @param {boolean} onward @param {number} share */
function moveInputs({ plan, parts }, onward, share) {
  const { before, previous, after, word } = plan.decoder, left = onward ? 1 - share : 0;
  const move = (/** @type {SVGElement} */ node, /** @type {Area} */ to, /** @type {Area} */ from) =>
    node.setAttribute("transform", `translate(${(from.x - to.x) * left} ${(from.y - to.y) * left})`);
  move(parts.before, before, after);
  move(parts.previous, previous, word);
  for (const node of parts.made) node.style.opacity = onward ? String(Math.max(0, share * 2 - 1)) : "";
}

function show(/** @type {DiagramState} */ state, /** @type {DiagramPayload} */ payload) {
  const { root } = state, { step, source } = viewState(root), k = step === null ? -1 : payload.steps.indexOf(step);
  if (k < 0 || state.signal.aborted) return;
  const scale = scaleFactor(), boxWidth = find(root, ".scroll").clientWidth;
  const symbols = state.formulas && scale === 1; // the terms of the equations have no room in lecture mode
  const thin = isThin(root) && payload.attention !== "none", drawn = JSON.stringify([symbols, thin, boxWidth, scale]);
  if (drawn !== state.drawn) state.diagram = undefined;
  const isNew = !state.diagram;
  Object.assign(state, { thin, boxWidth, drawn });
  const drawing = state.diagram ??= drawPlan(state, { ...payload, terms: symbols ? payload.terms : null });
  const { numbers } = drawing, before = state.step;
  if (source !== null || isNew) markPiece(state);
  if (before === step && state.pose) return;
  state.step = step;
  if (state.dragged) drawWeights(state, null);
  writeStep(root, drawing, k);
  const onward = before !== null && step === before + 1;
  const atOnce = before === null || !state.inSight || prefersReducedMotion();
  const drawAt = (/** @type {Pose} */ pose, /** @type {number} */ share) => {
    drawPose(drawing, pose);
    moveInputs(drawing, onward && !atOnce && share < 1, share);
  };
  if (state.show.isOpen) drawAt(state.pose = numbers.poses[k], 1);
  else animateTo(state, numbers.poses[k], !atOnce, drawAt);
  showStep(state);
}

/** Draws the ribbons of weights that are previewed.
 * @param {DiagramState} state @param {number[] | null} weights of the source pieces, or null for those of the step */
function drawWeights(state, weights) {
  const { diagram, pose } = state, k = rowOf(state);
  if (!diagram || !pose || k < 0 || (weights && weights.length !== pose.weights.length)) return;
  endShow(state);
  const own = diagram.numbers.poses[k];
  state.dragged = weights !== null;
  drawPose(diagram, weights ? { ...own, weights: Float32Array.from(weights) } : own);
}

export default component(".diagram", {
  isFigure: true,
  begin: (own) => ({ step: null, pointed: null, clock: newClock(own), show: newShow() }),
  start(/** @type {DiagramState} */ state) {
    const { root, signal } = state, scroll = find(root, ".scroll");
    const drawAgain = () => {
      state.step = null;
      if (state.payload) show(state, state.payload);
    };
    onMessage(root, "point", ({ detail }) => {
      state.pointed = detail?.source ?? null;
      markPiece(state);
    }, signal);
    onMessage(root, "weigh", ({ detail }) => drawWeights(state, detail), signal);
    listenToShow(state, drawAgain);
    onResize(() => state.diagram && scroll.clientWidth !== state.boxWidth && drawAgain(), signal, scroll);
    listenToStages(root);
    viewRoot(root).toggleAttribute("data-diagram", true); // for the layout of lectures (page.css)
  },
  take(/** @type {DiagramState} */ state, /** @type {DiagramData} */ { stages, formulas, outline, caption }) {
    const titles = stages.map(({ title }) => title).join();
    if (titles !== state.titles || formulas !== state.formulas) {
      Object.assign(state, { titles, stages, formulas, diagram: undefined });
    }
    if (!state.diagram) reserve(state, outline);
    write(find(state.root, ".caption"), caption);
  },
  read: (state) => state.diagram = undefined,
  show,
});

/** Adds a transparent target over each column, for hovering and clicking.
 * @param {HTMLElement} root @param {Element} drawing @param {Plan} plan @param {DiagramParts} parts */
function addColumnTargets(root, drawing, plan, parts) {
  const { across, columns } = plan, deep = across.ribbons[0];
  const part = addGroup(drawing, "reaches");
  columns.forEach(({ middle, width }, j) => {
    const target = addElement(part, "rect", { ...area(plan, middle - width / 2, 0, width, deep), class: "column" });
    target.addEventListener("click", (event) => choosePiece(root, plan, j, /** @type {MouseEvent} */ (event)));
    for (const node of [target, ...(parts.ribbons[j] ? [parts.ribbons[j]] : [])]) {
      node.addEventListener("pointerenter", () => sendPointed(root, { source: j }));
      node.addEventListener("pointerleave", () => sendPointed(root, null));
    }
  });
}

/** Handles a click on a column: in the encoder it chooses the piece, below it goes to the stage.
 * @param {HTMLElement} root @param {Plan} plan @param {number} j @param {MouseEvent} event */
function choosePiece(root, plan, j, event) {
  const box = find(root, ".drawing", SVGElement).getBoundingClientRect(), { across } = plan;
  const here = (plan.vertical ? event.clientX - box.left : event.clientY - box.top) * plan.width / box.width;
  if (!across.query || here < across.query) send(root, "choose", { source: j });
  else send(root, "visit", here < (across.energyNumber || across.energy[1]) + 6 ? 1 : 2);
}

/** Listens for clicks on the links to the stages. */
function listenToStages(/** @type {HTMLElement} */ root) {
  find(root, ".drawing", SVGElement).addEventListener("click", ({ target }) => {
    const part = target instanceof Element ? target.closest("[data-stage]") : null;
    const stage = part instanceof SVGElement ? Number(part.dataset.stage) : 0;
    if (stage) send(root, "visit", stage);
  });
}
