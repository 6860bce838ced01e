// The diagram: how the numbers of the step on show run from the English pieces to the French one. Drawn once for a sentence;
// a step moves what is different in it.

import { payloadOf } from "../payloads.js";
import { calm, endWith, fill, find, follow, soon, speak, states, write } from "../shared.js";
import { listenIn, shown } from "../view.js";
import { drawDecoder } from "./decoder.js";
import { drawEncoder } from "./encoder.js";
import { drawLook, flowName } from "./look.js";
import { nameParts } from "./names.js";
import { planned } from "./plan.js";
import { become, MOVING, strike, unpacked } from "./pose.js";
import { reachColumns, reachStages } from "./reach.js";
import { fit, put } from "./svg.js";
import { drawTerms } from "./terms.js";

/**
 * Draws all that is the same at every step.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {DiagramPayload} payload
 */
function lay(root, state, payload) {
  const drawing = find(root, ".drawing", SVGElement), room = find(root, ".scroll").clientWidth;
  const measure = measured(root), plan = planned(payload, room, measure);
  drawing.replaceChildren();
  drawing.setAttribute("width", String(plan.width));
  drawing.setAttribute("height", String(plan.height));
  drawing.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
  flowColours(drawing, plan);
  const { contextName, mix, ...look } = drawLook(drawing, payload, plan);
  const columns = drawEncoder(drawing, payload, plan, state.numbers);
  const decoder = drawDecoder(drawing, payload, plan);
  const { symbols, ways, states: stateNames } = nameParts(drawing, payload, plan, state.stages, measure);
  const texts = { ...decoder.texts, symbols, ways, stateNames, context: [contextName], mix };
  Object.assign(state, { plan, room, parts: { ...look, ...decoder, columns, texts }, pose: undefined });
  drawTerms(drawing, payload, plan);
  reachColumns(root, drawing, state);
  root.classList.toggle("dense", plan.dense);
}

/**
 * What tells how wide a text is.
 * @param {HTMLElement} root
 */
function measured(root) {
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(root).getPropertyValue("--serif") || "serif";
  return (/** @type {string} */ text, /** @type {number} */ letters) => {
    if (!pen) return text.length * letters * 0.5;
    pen.font = `${letters}px ${family}`;
    return pen.measureText(text).width;
  };
}

/**
 * The colours of the ribbons: annotations are green, and what they flow into is orange.
 * @param {Element} drawing
 * @param {Plan} plan
 */
function flowColours(drawing, { standing, across: { ribbons: [from, to] } }) {
  const ends = standing ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to };
  const colours = put(put(drawing, "defs", {}), "linearGradient", {
    id: flowName(drawing),
    gradientUnits: "userSpaceOnUse",
    ...ends,
  });
  put(colours, "stop", { offset: 0.15, style: "stop-color: var(--encoder)" });
  put(colours, "stop", { offset: 0.95, style: "stop-color: var(--context)" });
}

/**
 * Writes what a step says in words and numbers.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 * @param {number} k its row in the payload
 */
function writeStep(root, { payload, parts, stages }, k) {
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
  texts.previous.forEach((node) => fit(node, payload.previous[k]));
  texts.word.forEach((node) => fit(node, payload.written[k]));
  all("likely", payload.likely[k]);
  all("foils", payload.foils[k]);
  all("mix", payload.mixes[k]);
  texts.ways.forEach((way, n) => {
    const { place, title } = stages[n], outcome = payload.outcomes[k][n];
    way.setAttribute("aria-label", fill(payload.words.stage, { place, title, outcome }));
  });
  find(root, ".drawing", SVGElement).setAttribute("aria-label", payload.alts[k]);
  all("stateNames", i === 1 ? payload.words.start : payload.words.state);
  parts.origin.toggleAttribute("hidden", i > 1);
  root.classList.toggle("changed-by-hand", payload.byHand[k]);
}

/**
 * Marks the source piece on show, and the one that is pointed at.
 * @param {HTMLElement} root
 * @param {DiagramState} state
 */
function markPiece(root, { parts, pointed }) {
  const { source } = shown(root), lit = pointed ?? source;
  root.classList.toggle("pointing", pointed !== null);
  parts.columns.forEach((column, j) => {
    column.classList.toggle("seen", j === source);
    column.classList.toggle("lit", j === pointed);
  });
  parts.ribbons.forEach((ribbon, j) => ribbon.classList.toggle("seen", parts.ribbons.length === 1 || j === lit));
}

/**
 * Where the state and the word before come from: a step further they were the new ones.
 * @param {DiagramState} state
 * @param {boolean} onward
 * @param {number} share
 */
function slide({ plan, parts }, onward, share) {
  if (!plan) return;
  const { before, previous, after, word } = plan.decoder, left = onward ? 1 - share : 0;
  /** @type {(node: SVGElement, to: Area, from: Area) => void} */
  const move = (node, to, from) =>
    node.setAttribute("transform", `translate(${(from.x - to.x) * left} ${(from.y - to.y) * left})`);
  move(parts.before, before, after);
  move(parts.previous, previous, word);
  for (const node of parts.made) node.style.opacity = onward ? String(Math.max(0, share * 2 - 1)) : "";
}

/**
 * @param {HTMLElement} root
 * @param {DiagramState} state
 */
function show(root, state) {
  const payload = payloadOf(root, state, show);
  if (!payload) return;
  speak(payload.language);
  const { step, source, speed } = shown(root), k = step === null ? -1 : payload.steps.indexOf(step);
  if (k < 0 || !states.has(root)) return;
  const other = payload !== state.payload;
  if (other) Object.assign(state, { payload, numbers: unpacked(payload), step: null });
  if (other || !state.plan || state.room !== find(root, ".scroll").clientWidth) {
    lay(root, state, state.formulas ? payload : { ...payload, terms: null });
  }
  write(find(root, ".told"), payload.words.told);
  const { plan, parts } = state, before = state.step;
  if (!plan) return;
  if (source !== null || other) markPiece(root, state);
  if (before === step && state.pose) return;
  state.step = step;
  if (state.weighed) weigh(state, null);
  writeStep(root, state, k);
  const onward = before !== null && step === before + 1;
  const time = before === null || !state.seen || calm() ? 0 : MOVING / speed;
  become(state, state.numbers.poses[k], time, (pose, share) => {
    strike(payload, plan, parts, pose);
    slide(state, onward && time > 0, share);
  });
}

/**
 * While weights are pulled by hand, the ribbons follow; what would come of it is not known before the server has answered,
 * and what came of the others steps back.
 * @param {DiagramState} state
 * @param {number[] | null} weights of the source pieces, or null for those of the step
 */
function weigh(state, weights) {
  const { payload, plan, parts, numbers, pose, step } = state;
  const k = step === null ? -1 : payload?.steps.indexOf(step) ?? -1;
  if (!payload || !plan || !pose || k < 0 || (weights && weights.length !== pose.weights.length)) return;
  const own = numbers.poses[k];
  state.weighed = weights !== null;
  strike(payload, plan, parts, weights ? { ...own, weights: Float32Array.from(weights) } : own);
  for (const node of [parts.context, ...parts.made, ...parts.texts.likely, ...parts.texts.foils]) {
    node.classList.toggle("stale", state.weighed);
  }
}

/**
 * @param {HTMLElement} root
 * @returns {DiagramState}
 */
function start(root) {
  const state =
    /** @type {DiagramState} */ (/** @type {Partial<DiagramState>} */ ({ step: null, pointed: null, frame: 0 }));
  follow(root, state, ["step", "source"], () => soon(root, state, show));
  const ends = [
    listenIn(root, "point", ({ detail }) => {
      state.pointed = detail?.source ?? null;
      if (state.plan) markPiece(root, state);
    }),
    listenIn(root, "weigh", ({ detail }) => weigh(state, detail)),
  ];
  state.size = new ResizeObserver(() => {
    if (!state.plan || find(root, ".scroll").clientWidth === state.room) return;
    state.step = null;
    show(root, state);
  });
  state.size.observe(find(root, ".scroll"));
  reachStages(root);
  endWith(state, () => {
    cancelAnimationFrame(state.frame);
    for (const end of ends) end();
  });
  return state;
}

/** @param {Mounted<(DiagramPayload | Place) & { stages: StageTitle[]; formulas: boolean }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".diagram");
  /** @type {DiagramState} */
  const state = states.get(root) ?? start(root);
  state.data = data;
  const { stages, formulas } = data, titles = stages.map(({ title }) => title).join();
  if (titles !== state.titles || formulas !== state.formulas) {
    Object.assign(state, { titles, stages, formulas, plan: undefined, step: null });
  }
  soon(root, state, show);
  return state.stop;
}
