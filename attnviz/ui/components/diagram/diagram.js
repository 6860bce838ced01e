// The architecture diagram: the computation of the current step, from the English pieces to the French one. It is drawn once
// for a sentence; a step changes only what differs.

import { newClock } from "../clock.js";
import { payloadOf } from "../payloads.js";
import { onScaleChange, scaleFactor } from "../figure_scale.js";
import { drawSoon, find, onMessages, onStop, prefersReducedMotion, setLanguage, states, write } from "../shared.js";
import { onMessage, viewRoot, viewState } from "../view.js";
import { drawDecoder } from "./decoder.js";
import { drawEncoder } from "./encoder.js";
import { drawAttention, gradientId } from "./attention.js";
import { drawNames } from "./names.js";
import { planFor } from "./plan.js";
import { animateTo, drawPose, unpackNumbers } from "./pose.js";
import { addColumnTargets, listenToStages } from "./pointer.js";
import { addElement, writeFitted } from "./svg.js";
import { endShow, listenToShow, newShow, showStep } from "./show_step.js";
import { drawTerms } from "./terms.js";

/**
 * Draws all that is the same at every step.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {DiagramPayload} payload
 */
function drawPlan(root, state, payload) {
  const drawing = find(root, ".drawing", SVGElement),
    boxWidth = find(root, ".scroll").clientWidth,
    scale = scaleFactor();
  const measure = textMeasure(root, "--serif"), plan = planFor(payload, boxWidth / scale, measure, state.thin);
  drawing.replaceChildren();
  drawing.setAttribute("width", String(plan.width * scale));
  drawing.setAttribute("height", String(plan.height * scale));
  drawing.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
  addFlowGradient(drawing, plan);
  const { contextName, mix, ...attention } = drawAttention(drawing, payload, plan);
  const columns = drawEncoder(drawing, payload, plan, state.numbers);
  const decoder = drawDecoder(drawing, payload, plan, (viewState(root).view?.terms.cards.length ?? 0) > 0);
  const { symbols, states: stateNames } = drawNames(
    drawing,
    payload,
    plan,
    state.stages,
    textMeasure(root, "--sans"),
  );
  const texts = { ...decoder.texts, symbols, stateNames, context: [contextName], mix };
  Object.assign(state, { plan, boxWidth, parts: { ...attention, ...decoder, columns, texts }, pose: undefined });
  state.show.drawn = null;
  drawTerms(drawing, payload, plan);
  addColumnTargets(root, drawing, state);
  root.classList.toggle("dense", plan.dense);
  root.classList.toggle("thin", Boolean(state.thin));
  root.classList.toggle("vertical", plan.vertical);
}

/**
 * Gives the drawing the height that it will have, so that nothing moves when its numbers arrive.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {Omit<Outline, "terms">} outline
 */
function reserve(root, { formulas }, outline) {
  const scale = scaleFactor(),
    width = find(root, ".scroll").clientWidth / scale,
    measure = textMeasure(root, "--serif");
  const plan = planFor(
    { ...outline, terms: formulas && scale === 1 },
    width,
    measure,
    isThin(root) && outline.attention !== "none",
  );
  find(root, ".drawing", SVGElement).setAttribute("height", String(plan.height * scale));
}

/** Whether the page wants a thin diagram (page.css). @param {HTMLElement} root */
const isThin = (root) => getComputedStyle(root).getPropertyValue("--thin-diagram") === "1";

/**
 * Returns a function that measures the width of a text in the font of a custom property.
 * @param {HTMLElement} root
 * @param {"--serif" | "--sans"} font
 */
function textMeasure(root, font) {
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(root).getPropertyValue(font) || "serif";
  return (/** @type {string} */ text, /** @type {number} */ letters) => {
    if (!pen) return text.length * letters * 0.5;
    pen.font = `${letters}px ${family}`;
    return pen.measureText(text).width;
  };
}

/**
 * The colours of the ribbons: weights are grey, and what they flow into is orange.
 * @param {Element} drawing
 * @param {Plan} plan
 */
function addFlowGradient(drawing, { vertical, across: { ribbons: [from, to] } }) {
  const ends = vertical ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to };
  const colours = addElement(addElement(drawing, "defs", {}), "linearGradient", {
    id: gradientId(drawing),
    gradientUnits: "userSpaceOnUse",
    ...ends,
  });
  addElement(colours, "stop", { offset: 0.15, style: "stop-color: var(--attention)" });
  addElement(colours, "stop", { offset: 0.95, style: "stop-color: var(--context)" });
}

/**
 * Writes the texts and numbers of a step.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {number} k its row in the payload
 */
function writeStep(root, { payload, parts }, k) {
  if (!payload) return;
  const i = payload.steps[k] + 1, here = String(i), { texts } = parts;
  /** @type {(name: string, text: string) => void} */
  const all = (name, text) => texts[name].forEach((node) => write(node, text));
  for (const name of ["after", "readout", "wordIndex", "context"]) all(name, here);
  for (const name of ["before", "previousIndex"]) all(name, String(i - 1));
  for (const index of root.querySelectorAll("[data-index]")) {
    const numbered = (index.getAttribute("data-index") ?? "").replace("⟦i⟧", here).replace("⟦before⟧", String(i - 1));
    write(index, numbered);
  }
  texts.symbols.forEach((node) => write(node, `${here},j`));
  texts.previous.forEach((node) => writeFitted(node, payload.previous[k]));
  texts.word.forEach((node) => writeFitted(node, payload.written[k]));
  all("likely", payload.likely[k]);
  all("foils", payload.foils[k]);
  all("mix", payload.mixes[k]);
  find(root, ".drawing", SVGElement).setAttribute("aria-label", payload.alts[k]);
  all("stateNames", i === 1 ? payload.words.start : payload.words.state);
  parts.origin.toggleAttribute("hidden", i > 1);
  root.classList.toggle("changed-by-hand", payload.byHand[k]);
  root.classList.toggle("frozen", payload.frozen);
}

/**
 * Marks the current source piece, and the one that is pointed at.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 */
function markPiece(root, { parts, pointed }) {
  const { source } = viewState(root), lit = pointed ?? source;
  root.classList.toggle("pointing", pointed !== null);
  parts.columns.forEach((column, j) => {
    column.classList.toggle("seen", j === source);
    column.classList.toggle("lit", j === pointed);
  });
  parts.ribbons.forEach((ribbon, j) => ribbon.classList.toggle("seen", parts.ribbons.length === 1 || j === lit));
}

/**
 * Moves the new state and word of the previous step to their places as inputs, when going one step onward.
 * @param {DiagramState} state
 * @param {boolean} onward
 * @param {number} share
 */
function moveInputs({ plan, parts }, onward, share) {
  if (!plan) return;
  const { before, previous, after, word } = plan.decoder, left = onward ? 1 - share : 0;
  /** @type {(node: SVGElement, to: Area, from: Area) => void} */
  const move = (node, to, from) =>
    node.setAttribute("transform", `translate(${(from.x - to.x) * left} ${(from.y - to.y) * left})`);
  move(parts.before, before, after);
  move(parts.previous, previous, word);
  for (const node of parts.made) node.style.opacity = onward ? String(Math.max(0, share * 2 - 1)) : "";
}

/** Payloads without symbols, by the payloads with them. @type {WeakMap<DiagramPayload, DiagramPayload>} */
const everyday = new WeakMap();

/**
 * The payload without symbols.
 * @param {DiagramPayload} payload
 * @returns {DiagramPayload}
 */
function everydayPayload(payload) {
  let plain = everyday.get(payload);
  if (!plain) {
    plain = { ...payload, terms: null };
    everyday.set(payload, plain);
  }
  return plain;
}

/**
 * @param {HTMLElement} root
 * @param {DiagramState} state
 */
function show(root, state) {
  const sent = payloadOf(root, state, show);
  if (!sent) return;
  const isScaled = scaleFactor() !== 1; // the terms of the equations have no room then
  const payload = state.formulas && !isScaled ? sent : everydayPayload(sent);
  setLanguage(payload.language);
  const { step, source } = viewState(root), k = step === null ? -1 : payload.steps.indexOf(step);
  if (k < 0 || !states.has(root)) return;
  const other = payload !== state.payload;
  if (other) Object.assign(state, { payload, numbers: unpackNumbers(payload), step: null });
  const thin = isThin(root) && payload.attention !== "none";
  if (other || !state.plan || thin !== state.thin || state.boxWidth !== find(root, ".scroll").clientWidth) {
    Object.assign(state, { thin, step: null });
    drawPlan(root, state, payload);
  }
  const { plan, parts } = state, before = state.step;
  if (!plan) return;
  if (source !== null || other) markPiece(root, state);
  if (before === step && state.pose) return;
  state.step = step;
  if (state.dragged) drawWeights(root, state, null);
  writeStep(root, state, k);
  const onward = before !== null && step === before + 1;
  const atOnce = before === null || !state.inSight || prefersReducedMotion();
  const drawAt = (/** @type {Pose} */ pose, /** @type {number} */ share) => {
    drawPose(payload, plan, parts, pose);
    moveInputs(state, onward && !atOnce && share < 1, share);
  };
  if (state.show.isOpen) drawAt(state.pose = state.numbers.poses[k], 1);
  else animateTo(state, state.numbers.poses[k], !atOnce, drawAt);
  showStep(root, state);
}

/**
 * Draws the ribbons of weights that are previewed.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {number[] | null} weights of the source pieces, or null for those of the step
 */
function drawWeights(root, state, weights) {
  const { payload, plan, parts, numbers, pose, step } = state;
  const k = step === null ? -1 : payload?.steps.indexOf(step) ?? -1;
  if (!payload || !plan || !pose || k < 0 || (weights && weights.length !== pose.weights.length)) return;
  endShow(root, state);
  const own = numbers.poses[k];
  state.dragged = weights !== null;
  drawPose(payload, plan, parts, weights ? { ...own, weights: Float32Array.from(weights) } : own);
}

/**
 * @param {HTMLElement} root
 * @returns {DiagramState}
 */
function start(root) {
  const begun = { step: null, pointed: null, clock: newClock(root), show: newShow() };
  const state = /** @type {DiagramState} */ (/** @type {Partial<DiagramState>} */ (begun));
  onMessages(root, state, ["step", "source"], () => drawSoon(root, state, show));
  const ends = [
    onScaleChange(() => {
      Object.assign(state, { plan: undefined, step: null });
      drawSoon(root, state, show);
    }),
    onMessage(root, "shown", () => state.plan && state.thin !== isThin(root) && drawSoon(root, state, show)),
    listenToShow(root, state, () => {
      state.step = null;
      show(root, state);
    }),
    onMessage(root, "point", ({ detail }) => {
      state.pointed = detail?.source ?? null;
      if (state.plan) markPiece(root, state);
    }),
    onMessage(root, "weigh", ({ detail }) => drawWeights(root, state, detail)),
  ];
  state.resizing = new ResizeObserver(() => {
    if (!state.plan || find(root, ".scroll").clientWidth === state.boxWidth) return;
    state.step = null;
    show(root, state);
  });
  state.resizing.observe(find(root, ".scroll"));
  listenToStages(root);
  viewRoot(root).toggleAttribute("data-diagram", true); // for the layout of lectures (page.css)
  onStop(state, () => {
    state.clock.pause();
    for (const end of ends) end();
  });
  return state;
}

/** @param {Mounted<(DiagramPayload | PayloadAddress) & { stages: StageTitle[]; formulas: boolean; outline: Omit<Outline, "terms">; caption: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".diagram");
  /** @type {DiagramState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  const { stages, formulas, outline, caption } = data, titles = stages.map(({ title }) => title).join();
  if (titles !== state.titles || formulas !== state.formulas) {
    Object.assign(state, { titles, stages, formulas, plan: undefined, step: null });
  }
  if (!state.plan) reserve(root, state, outline);
  write(find(root, ".caption"), caption);
  drawSoon(root, state, show);
  return state.stop;
}
