// Plays the computation of the current step in the diagram: its button, the slider of its time, and its scenes.

import { exponentials, strongestFirst } from "../chart/weights.js";
import { listenToSpeeds } from "../clock.js";
import { button, find, findAll, onPress, prefersReducedMotion, scrollSmoothly, write } from "../elements.js";
import { makeOneTabStop, moveFocus } from "../keyboard.js";
import { fill, number, percent } from "../numbers.js";
import { onMessage, speedOf, viewRoot, viewState } from "../view.js";
import { momentAt, sceneAt, timed } from "./moments.js";
import { addMomentParts, drawMoment, removeMomentParts } from "./pose.js";

const REST = 700; // milliseconds that a step stays complete before the player goes on
const READING = 250; // milliseconds a word: below speed 1, a scene stays until its sentence is read

/** @returns {StepShow} */
export function newShow() {
  return { isOpen: false, playing: false, scenes: [], time: Infinity, step: null, drawn: null, then: null };
}

/** The row of the drawn step in the payload; -1 without one. @param {DiagramState} state */
export const rowOf = ({ diagram, step }) => step === null ? -1 : diagram?.payload.steps.indexOf(step) ?? -1;

/** Draws the moment of the show, its slider and its sentence. */
function paint(/** @type {DiagramState} */ state) {
  const { root, show, diagram } = state, k = rowOf(state);
  if (!diagram || k < 0) return;
  const { payload, numbers } = diagram, pose = numbers.poses[k], end = endOf(show);
  show.time = Math.min(show.time, end);
  const scene = show.scenes[sceneAt(show.scenes, show.time)];
  if (show.time >= end || !show.isOpen) {
    if (show.drawn) removeMomentParts(diagram, show.drawn, pose);
    show.drawn = null;
  } else {
    const moment = momentAt(pose, numbers.annotations, show.scenes, payload.range[0], show.time);
    show.drawn ??= addMomentParts(find(root, ".drawing", SVGElement), diagram);
    drawMoment(diagram, show.drawn, pose, moment);
    const { added, gathered } = moment, n = pose.weights.length;
    const count = scene.name === "context" && payload.attention !== "none";
    write(find(root, ".count"), count ? fill(payload.words.count, { k: added, n, weight: percent(gathered) }) : "");
  }
  if (show.time >= end) write(find(root, ".count"), "");
  paintControls(state, payload, scene, pose, k);
}

/** @param {DiagramState} state @param {DiagramPayload} payload @param {Scene} scene @param {Pose} pose
 * @param {number} k */
function paintControls({ root, show }, payload, scene, pose, k) {
  const { words } = payload, { isOpen, playing, time, scenes } = show;
  const slider = find(root, ".time", HTMLInputElement), ended = time >= endOf(show), still = prefersReducedMotion();
  const verb = !isOpen ? words.show : playing ? words.pause : ended ? words.repeat : still ? words.next : words.resume;
  write(find(root, ".verb"), verb);
  find(root, ".run").dataset.state = playing ? "playing" : "paused";
  find(root, ".show").classList.toggle("open", isOpen);
  viewRoot(root).toggleAttribute("data-showing", isOpen);
  if (!isOpen) return;
  Object.assign(slider, { value: time, ariaValueText: scene.title });
  const buttons = findAll(root, ".scenes button"), current = buttons[scenes.indexOf(scene)];
  if (!current.hasAttribute("aria-current")) {
    for (const one of buttons) one.ariaCurrent = one === current ? "step" : null;
    if (!buttons.some((one) => one.matches(":focus"))) makeOneTabStop(buttons, current);
  }
  write(find(root, ".scene"), scene.title);
  write(find(root, ".sentence"), sentenceOf(payload, scene, pose, k));
}

/** The sentence of a scene, with the numbers of the step.
 * @param {DiagramPayload} payload @param {Scene} scene @param {Pose} pose @param {number} k */
function sentenceOf(payload, { name, sentence, example }, { energies }, k) {
  if (name === "weight" && payload.byHand[k]) return payload.words.byHand;
  const values = { previous: payload.previous[k], word: payload.written[k], share: payload.likely[k] };
  if (payload.attention === "none") return fill(sentence, values);
  const order = strongestFirst(energies);
  const [best, second] = order, lead = payload.leads[k];
  const sum = exponentials(energies).reduce((total, one) => total + one, 0);
  const given = {
    ...values,
    best: payload.sources[best],
    second: payload.sources[second],
    energy: number(energies[best], 1),
    apart: lead?.[0] ?? "",
    times: lead?.[1] ?? "",
    sum: number(sum, 2),
  };
  return fill(example && lead ? `${sentence} ${example}` : sentence, given);
}

/** Stops at a moment. */
function stopAt(/** @type {DiagramState} */ state, /** @type {number} */ time) {
  const { show, clock } = state;
  clock.pause();
  clearTimeout(show.resting);
  Object.assign(show, { time, playing: false });
  paint(state);
}

/** Plays from one time to another, scene by scene. A visitor who asks for reduced motion gets the still of the first
 * scene on that way. @param {DiagramState} state @param {number} from @param {number} until */
function play(state, from, until) {
  const { root, show, clock } = state, end = show.scenes.find(({ to }) => to > from)?.to ?? until;
  if (prefersReducedMotion()) return stopAt(state, end);
  clearTimeout(show.resting);
  clock.play(from, end, (time) => {
    show.time = time;
    show.playing = time < until;
    paint(state);
    if (clock.playing) return;
    const words = find(root, ".told").innerText.split(" ").length;
    if (!show.playing) goOn(state);
    else show.resting = setTimeout(() => play(state, end, until), speedOf(root) < 1 ? words * READING : 0);
  });
}

/** Lets the player go on to the next step, once this one is complete. */
function goOn(/** @type {DiagramState} */ { root, show }) {
  const { then } = show;
  if (show.time < endOf(show)) return;
  show.then = null;
  if (then) show.resting = setTimeout(then, REST / speedOf(root));
}

const endOf = (/** @type {StepShow} */ { scenes }) => scenes[scenes.length - 1]?.to ?? 0;

/** Shows a step that has been drawn: plays it if the show is open, or at another width of the page draws its moment
 * again. A show that a visitor has paused in the middle stays at that moment in the next step. */
export function showStep(/** @type {DiagramState} */ state) {
  const { show, step } = state, payload = state.diagram?.payload;
  if (!payload) return;
  const texts = payload.scenes.map(({ title }) => title).join();
  if (texts !== show.titles) {
    Object.assign(show, { titles: texts, scenes: timed(payload.scenes) });
    writeScenes(state);
  }
  const other = show.step !== step, waits = show.playing || show.time >= endOf(show);
  show.step = step;
  if (!show.isOpen) show.time = endOf(show);
  if (!show.isOpen || !other || !waits) paint(state);
  else if (state.inSight && !prefersReducedMotion()) play(state, 0, endOf(show));
  else {
    stopAt(state, endOf(show)); // nobody sees it, or wants it to move
    goOn(state);
  }
}

/** Draws the still of the step. */
export function endShow(/** @type {DiagramState} */ state) {
  if (!state.show.drawn) return;
  stopAt(state, endOf(state.show));
  goOn(state);
}

function writeScenes(/** @type {DiagramState} */ state) {
  const { root, show: { scenes } } = state;
  find(root, ".time", HTMLInputElement).max = String(endOf(state.show));
  find(root, ".scenes").replaceChildren(...scenes.map(({ title, from, to }) => {
    return button("", () => play(state, from, to), title, { style: { flex: `${to - from} 0 0` } });
  }));
}

/** @param {DiagramState} state @param {() => void} redraw draws the step at once */
export function listenToShow(state, redraw) {
  const { root, show, signal } = state, view = viewState(root);
  listenToSpeeds(state);
  const run = () => {
    if (show.playing) return stopAt(state, show.time);
    const opens = !show.isOpen, from = opens || show.time >= endOf(show) ? 0 : show.time;
    show.isOpen = true;
    if (opens) redraw(); // its numbers may be on their way from another step
    play(state, from, endOf(show));
    if (opens) scrollSmoothly(root, "nearest");
  };
  onPress(find(root, ".run"), run);
  find(root, ".close").onclick = () => {
    show.isOpen = false;
    stopAt(state, endOf(show));
    goOn(state);
    find(root, ".run").focus();
  };
  find(root, ".scenes").onkeydown = (event) => moveFocus(event, findAll(root, ".scenes button"));
  const slider = find(root, ".time", HTMLInputElement);
  slider.oninput = () => {
    const time = Number(slider.value);
    stopAt(state, prefersReducedMotion() ? show.scenes[sceneAt(show.scenes, time)].to : time);
  };
  view.playStep = (then) => {
    if (!show.isOpen || state.inSight === false || prefersReducedMotion()) return false;
    show.then = then;
    if (show.step === view.step && !show.playing) play(state, show.time < endOf(show) ? show.time : 0, endOf(show));
    return true;
  };
  onMessage(root, "pause", () => {
    show.then = null;
    clearTimeout(show.resting);
    if (show.playing) stopAt(state, show.time);
  }, signal);
  signal.addEventListener("abort", () => {
    view.playStep = null;
    clearTimeout(show.resting);
    if (show.then) setTimeout(show.then, REST);
  });
}
