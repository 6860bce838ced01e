// Controls that change the attention of the current step: buttons, the temperature, and borrowed weights. The bars
// themselves are dragged in their figure.

import { payloadOf } from "../payloads.js";
import {
  blurAfterClick,
  fill,
  find,
  findAll,
  follow,
  number,
  soon,
  speak,
  states,
  write,
  writeTexts,
} from "../shared.js";
import { preview, shown, tryIn, viewOf } from "../view.js";

/**
 * Requests a what-if of the current step, which keeps or rewrites the translation as the visitor has chosen.
 * @param {HTMLElement} root
 * @param {(how: { step: number, held: boolean }) => WhatIf} change
 */
function requestWhatIf(root, change) {
  const { step, held } = shown(root);
  if (step !== null) tryIn(root, change({ step, held }));
}

const GREATEST = 2, ENDLESS = 2.02; // powers of ten at the slider's end: the greatest finite temperature, and the infinite one

/**
 * The temperature of the slider.
 * @param {HTMLElement} root
 */
function degrees(root) {
  const power = Number(find(root, ".degrees", HTMLInputElement).value);
  return power > (GREATEST + ENDLESS) / 2 ? Infinity : 10 ** power;
}

/** @param {HTMLElement} root */
const ofAll = (root) => find(root, ".every", HTMLInputElement).checked;

/**
 * The text of a temperature.
 * @param {number} temperature
 */
function temperatureText(temperature) {
  const places = temperature < 0.0995 ? 3 : temperature < 9.95 ? 2 : 0;
  return `τ = ${temperature === Infinity ? "∞" : number(temperature, places)}`;
}

/**
 * The current temperature, of the step or of all.
 * @param {HTMLElement} root
 * @param {ControlsPayload} payload
 * @param {number} step
 */
const currentTemperature = (root, payload, step) =>
  Number(ofAll(root) ? payload.temperature : payload.temperatures[step]);

/**
 * Writes the temperature of the slider.
 * @param {HTMLElement} root
 */
function writeTemperature(root) {
  const text = temperatureText(degrees(root));
  write(find(root, ".heat output"), text);
  find(root, ".degrees").setAttribute("aria-valuetext", text);
}

/**
 * Sets the slider to the temperature of the current step.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function setTemperature(root, { payload }) {
  const { step } = shown(root);
  if (!payload || step === null) return;
  const power = Math.log10(currentTemperature(root, payload, step));
  find(root, ".degrees", HTMLInputElement).value = String(Math.min(power, ENDLESS));
  writeTemperature(root);
}

/**
 * Previews the weights at the chosen temperature, computed from those at the current one.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function previewTemperature(root, { payload }) {
  const { step } = shown(root);
  writeTemperature(root);
  if (!payload || step === null) return;
  const before = currentTemperature(root, payload, step);
  const fixed = before === Infinity || (ofAll(root) && payload.set[step]); // uniform weights determine no others
  const temperature = fixed ? 1 : degrees(root) / before;
  preview(root, { kind: "temperature", step, temperature, held: shown(root).held });
}

/**
 * Requests the chosen temperature as a what-if, if it has changed.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function requestTemperature(root, state) {
  if (!state.pending) return;
  state.pending = false;
  const chosen = degrees(root), every = ofAll(root);
  const temperature = chosen === Infinity ? "Infinity" : Number(chosen.toPrecision(3));
  requestWhatIf(root, ({ step, held }) => ({ kind: "temperature", temperature, step: every ? null : step, held }));
}

/**
 * Reverts a temperature that was chosen but not requested.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function revertTemperature(root, state) {
  if (!state.pending) return false;
  state.pending = false;
  preview(root, null);
  setTemperature(root, state);
  return true;
}

/**
 * Listens to the slider of the temperature: the bars follow it, and the what-if is requested at the end of a drag; with the
 * keyboard, at Enter or on blur.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function listenToTemperature(root, state) {
  const slider = find(root, ".degrees", HTMLInputElement);
  let pointed = false;
  slider.onpointerdown = () => {
    pointed = true;
  };
  slider.oninput = () => {
    state.pending = true;
    previewTemperature(root, state);
  };
  slider.onchange = () => {
    if (!pointed) return;
    pointed = false;
    requestTemperature(root, state);
    slider.blur(); // after the mouse, the arrow keys are to step
  };
  slider.onblur = () => requestTemperature(root, state);
  slider.onkeydown = (event) => {
    pointed = false;
    if (event.key === "Enter") requestTemperature(root, state);
    else if (event.key !== "Escape" || !revertTemperature(root, state)) return;
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
 * Shows the field for the lender of the attention: a step, links, or none.
 * @param {HTMLElement} root
 */
function showLenderField(root) {
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
  requestWhatIf(root, (how) => {
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
 * @param {ControlsState} state
 */
function listen(root, state) {
  /** @type {(name: string, act: () => void) => void} */
  const pressed = (name, act) => {
    find(root, name).onclick = (event) => {
      act();
      blurAfterClick(event);
    };
  };
  const source = () => shown(root).source ?? 0;
  pressed(".only", () => requestWhatIf(root, (how) => ({ kind: "only", source: source(), ...how })));
  pressed(".without", () => requestWhatIf(root, (how) => ({ kind: "without", source: source(), ...how })));
  pressed(".alike", () => requestWhatIf(root, (how) => ({ kind: "alike", ...how })));
  pressed(".undo", () => tryIn(root, { kind: "undo" }));
  pressed(".take", () => borrow(root));
  find(root, ".lender").onchange = () => showLenderField(root);
  find(root, ".links").onkeydown = (event) => {
    if (event.key === "Enter") borrow(root);
  };
  for (const input of findAll(root, ".then input", HTMLInputElement)) {
    input.name = `then-${[...viewOf(root).classList].join("-")}`;
    input.onchange = () => {
      shown(root).held = input.value === "held";
    };
  }
  listenToTemperature(root, state);
}

/**
 * Reads a new payload, of another translation or language.
 * @param {HTMLElement} root
 * @param {ControlsState} state
 * @param {ControlsPayload} payload
 */
function readPayload(root, state, payload) {
  state.payload = payload;
  speak(payload.language);
  const { words } = payload;
  writeTexts(root, words);
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
  showLenderField(root);
}

/**
 * @param {HTMLElement} root
 * @param {ControlsState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  const { step, source, held } = shown(root);
  if (!payload || step === null) return;
  if (payload !== state.payload) readPayload(root, state, payload);
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
 * @returns {ControlsState}
 */
function start(root) {
  const state = /** @type {ControlsState} */ ({ light: true });
  listen(root, state);
  return follow(root, state, ["step", "source"], () => soon(root, state, draw));
}

/** @param {Mounted<Place & { models: string[], undo: boolean, problem: string }>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".weight_controls");
  /** @type {ControlsState} */
  const state = states.get(root) ?? start(root);
  Object.assign(state, { data, models: data.models, undo: data.undo });
  write(find(root, ".problem"), data.problem);
  if (data.problem) preview(root, null); // the request failed
  state.payload = undefined; // the models may have changed
  soon(root, state, draw);
  return state.stop;
}
