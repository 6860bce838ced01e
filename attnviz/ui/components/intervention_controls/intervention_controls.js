// What can be tried on the look of the step on show: buttons, the temperature, and looks borrowed from elsewhere. The bars
// themselves are pulled where they are drawn.

import { payloadOf } from "../payloads.js";
import { fill, find, findAll, follow, letGo, number, soon, speak, states, wordIn, write } from "../shared.js";
import { preview, shown, tryIn, viewOf } from "../view.js";

/**
 * Has something tried on the step on show, with the translation held or written anew as the visitor said.
 * @param {HTMLElement} root
 * @param {(how: { step: number, held: boolean }) => WhatIf} change
 */
function tryOut(root, change) {
  const { step, held } = shown(root);
  if (step !== null) tryIn(root, change({ step, held }));
}

const GREATEST = 2, ENDLESS = 2.02; // powers of ten at the slider's end: the greatest finite temperature, and an infinite

/**
 * The temperature that the slider stands at.
 * @param {HTMLElement} root
 */
function degrees(root) {
  const power = Number(find(root, ".degrees", HTMLInputElement).value);
  return power > (GREATEST + ENDLESS) / 2 ? Infinity : 10 ** power;
}

/** @param {HTMLElement} root */
const ofAll = (root) => find(root, ".every", HTMLInputElement).checked;

/**
 * What a temperature is written as.
 * @param {number} temperature
 */
function written(temperature) {
  const places = temperature < 0.0995 ? 3 : temperature < 9.95 ? 2 : 0;
  return `τ = ${temperature === Infinity ? "∞" : number(temperature, places)}`;
}

/**
 * The temperature on show, of the step or of all.
 * @param {HTMLElement} root
 * @param {BenchPayload} payload
 * @param {number} step
 */
const onShow = (root, payload, step) => Number(ofAll(root) ? payload.temperature : payload.temperatures[step]);

/**
 * Says the temperature that the slider stands at.
 * @param {HTMLElement} root
 */
function tellTemperature(root) {
  const told = written(degrees(root));
  write(find(root, ".heat output"), told);
  find(root, ".degrees").setAttribute("aria-valuetext", told);
}

/**
 * Puts the slider where the step on show is.
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function setTemperature(root, { payload }) {
  const { step } = shown(root);
  if (!payload || step === null) return;
  const power = Math.log10(onShow(root, payload, step));
  find(root, ".degrees", HTMLInputElement).value = String(Math.min(power, ENDLESS));
  tellTemperature(root);
}

/**
 * What the temperature that was chosen does to the weights on show, which another may have made.
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function heat(root, { payload }) {
  const { step } = shown(root);
  tellTemperature(root);
  if (!payload || step === null) return;
  const before = onShow(root, payload, step);
  const fixed = before === Infinity || (ofAll(root) && payload.set[step]); // what was made alike tells of nothing else
  const temperature = fixed ? 1 : degrees(root) / before;
  preview(root, { kind: "temperature", step, temperature, held: shown(root).held });
}

/**
 * Has the temperature that was chosen tried, if another was on show.
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function cook(root, state) {
  if (!state.pending) return;
  state.pending = false;
  const chosen = degrees(root), every = ofAll(root);
  const temperature = chosen === Infinity ? "Infinity" : Number(chosen.toPrecision(3));
  tryOut(root, ({ step, held }) => ({ kind: "temperature", temperature, step: every ? null : step, held }));
}

/**
 * Takes back what was chosen and not tried.
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function cool(root, state) {
  if (!state.pending) return false;
  state.pending = false;
  preview(root, null);
  setTemperature(root, state);
  return true;
}

/**
 * The slider of the temperature: the bars follow it, and it is tried when it is let go of; by the keyboard, at Enter or
 * when the focus leaves it.
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function listenToHeat(root, state) {
  const slider = find(root, ".degrees", HTMLInputElement);
  let pointed = false;
  slider.onpointerdown = () => {
    pointed = true;
  };
  slider.oninput = () => {
    state.pending = true;
    heat(root, state);
  };
  slider.onchange = () => {
    if (!pointed) return;
    pointed = false;
    cook(root, state);
    slider.blur(); // after the mouse the arrows are to step
  };
  slider.onblur = () => cook(root, state);
  slider.onkeydown = (event) => {
    pointed = false;
    if (event.key === "Enter") cook(root, state);
    else if (event.key !== "Escape" || !cool(root, state)) return;
    event.preventDefault();
  };
  find(root, ".every", HTMLInputElement).onchange = () => setTemperature(root, state);
}

/**
 * @param {HTMLSelectElement} box
 * @param {[string, string][]} options value and name of each
 */
function offer(box, options) {
  const chosen = box.value;
  box.replaceChildren(...options.map(([value, name]) => new Option(name, value, false, value === chosen)));
}

/**
 * Shows where to say whose look is borrowed: a step, links, or nothing more.
 * @param {HTMLElement} root
 */
function askWhose(root) {
  const kind = find(root, ".lender", HTMLSelectElement).value;
  find(root, ".of").hidden = kind !== "step";
  find(root, ".links").hidden = kind !== "links";
}

/** @param {HTMLElement} root */
function borrow(root) {
  const { value } = find(root, ".lender", HTMLSelectElement), links = find(root, ".links", HTMLInputElement);
  if (value === "links" && !links.value.trim()) {
    links.focus();
    return;
  }
  tryOut(root, (how) => {
    const loan = /** @type {const} */ ({ kind: "borrowed", ...how });
    if (value === "step") return { ...loan, from: value, of: Number(find(root, ".of", HTMLSelectElement).value) };
    if (value === "posterior") return { ...loan, from: value, of: "" };
    if (value === "links") return { ...loan, from: value, of: links.value.trim() };
    return { ...loan, from: "model", of: value.slice(MODEL.length) };
  });
}

const MODEL = "model ";

/**
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function listen(root, state) {
  /** @type {(name: string, act: () => void) => void} */
  const pressed = (name, act) => {
    find(root, name).onclick = (event) => {
      act();
      letGo(event);
    };
  };
  const source = () => shown(root).source ?? 0;
  pressed(".only", () => tryOut(root, (how) => ({ kind: "only", source: source(), ...how })));
  pressed(".without", () => tryOut(root, (how) => ({ kind: "without", source: source(), ...how })));
  pressed(".alike", () => tryOut(root, (how) => ({ kind: "alike", ...how })));
  pressed(".undo", () => tryIn(root, { kind: "undo" }));
  pressed(".take", () => borrow(root));
  find(root, ".lender").onchange = () => askWhose(root);
  find(root, ".links").onkeydown = (event) => {
    if (event.key === "Enter") borrow(root);
  };
  for (const input of findAll(root, ".then input", HTMLInputElement)) {
    input.name = `then-${[...viewOf(root).classList].join("-")}`;
    input.onchange = () => {
      shown(root).held = input.value === "held";
    };
  }
  listenToHeat(root, state);
}

/**
 * Takes in another payload: another translation, or language.
 * @param {HTMLElement} root
 * @param {BenchState} state
 * @param {BenchPayload} payload
 */
function read(root, state, payload) {
  state.payload = payload;
  speak(payload.language);
  const { words } = payload;
  wordIn(root, words);
  for (
    const [name, label] of [[".degrees", "temperature"], [".lender", "lender"], [".of", "step"], [".links", "links"]]
  ) {
    find(root, name).setAttribute("aria-label", words[label]);
  }
  find(root, ".links", HTMLInputElement).placeholder = "0-0 1-2 2-1";
  find(root, ".every").title = words.every;
  offer(find(root, ".lender", HTMLSelectElement), [
    ["step", words.ofStep],
    .../** @type {[string, string][]} */ (payload.posterior ? [["posterior", words.ofPosterior]] : []),
    ["links", words.ofLinks],
    ...state.models.map((name) => /** @type {[string, string]} */ ([MODEL + name, fill(words.ofModel, { name })])),
  ]);
  offer(find(root, ".of", HTMLSelectElement), payload.written.map((name, i) => [String(i), `${i + 1} · ${name}`]));
  askWhose(root);
}

/**
 * @param {HTMLElement} root
 * @param {BenchState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  const { step, source, held } = shown(root);
  if (!payload || step === null) return;
  if (payload !== state.payload) read(root, state, payload);
  const { words, pieces } = payload, here = pieces[source ?? 0];
  write(find(root, ".hint"), fill(words.hint, { name: here }));
  for (const name of ["only", "without"]) find(root, `.${name}`).setAttribute("aria-label", `${words[name]}: ${here}`);
  find(root, ".undo", HTMLButtonElement).disabled = !state.undo;
  for (const input of findAll(root, ".then input", HTMLInputElement)) input.checked = (input.value === "held") === held;
  if (step !== state.step || !state.pending) setTemperature(root, state);
  state.step = step;
}

/**
 * @param {HTMLElement} root
 * @returns {BenchState}
 */
function start(root) {
  const state = /** @type {BenchState} */ ({ light: true });
  listen(root, state);
  return follow(root, state, ["step", "source"], () => soon(root, state, draw));
}

/** @param {Mounted<Place & { models: string[], undo: boolean, problem: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".bench");
  /** @type {BenchState} */
  const state = states.get(root) ?? start(root);
  Object.assign(state, { data, models: data.models, undo: data.undo });
  write(find(root, ".problem"), data.problem);
  if (data.problem) preview(root, null); // what was asked for was not done
  state.payload = undefined; // the models may be others
  soon(root, state, draw);
  return state.stop;
}
