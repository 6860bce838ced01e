// Controls that change the attention of the current step: buttons, the temperature, and borrowed weights. The bars
// themselves are dragged in their figure.

import { component } from "../component.js";
import { find, findAll, onPress, write } from "../elements.js";
import { fill, number } from "../numbers.js";
import { intervene, send, viewState } from "../view.js";

// Powers of ten at the end of the slider: the greatest finite temperature, and the position of the infinite one.
const FINITE_POWER = 2, INFINITE_POWER = 2.02;

/** The temperature of the slider. */
function sliderTemperature(/** @type {HTMLElement} */ root) {
  const power = Number(find(root, ".degrees", HTMLInputElement).value);
  return power > (FINITE_POWER + INFINITE_POWER) / 2 ? Infinity : 10 ** power;
}

const isForAllSteps = (/** @type {HTMLElement} */ root) => find(root, ".every", HTMLInputElement).checked;

/** The current temperature, of the step or of all.
 * @param {HTMLElement} root @param {ControlsPayload} payload @param {number} step */
const currentTemperature = (root, payload, step) =>
  Number(isForAllSteps(root) ? payload.temperature : payload.temperatures[step]);

/** Writes the temperature of the slider. */
function writeTemperature(/** @type {HTMLElement} */ root) {
  const temperature = sliderTemperature(root), places = temperature < 0.0995 ? 3 : temperature < 9.95 ? 2 : 0;
  const text = `τ = ${temperature === Infinity ? "∞" : number(temperature, places)}`;
  write(find(root, ".heat output"), text);
  find(root, ".degrees").setAttribute("aria-valuetext", text);
}

/** Sets the slider to the temperature of the current step. */
function setTemperature(/** @type {ControlsState} */ { root, payload }) {
  const { step } = viewState(root);
  if (!payload || step === null) return;
  const power = Math.log10(currentTemperature(root, payload, step));
  find(root, ".degrees", HTMLInputElement).value = String(Math.min(power, INFINITE_POWER));
  writeTemperature(root);
}

/** Previews the weights at the chosen temperature, computed from those at the current one. */
function previewTemperature(/** @type {ControlsState} */ { root, payload }) {
  const { step } = viewState(root);
  writeTemperature(root);
  if (!payload || step === null) return;
  const before = currentTemperature(root, payload, step);
  const fixed = before === Infinity || (isForAllSteps(root) && payload.set[step]); // uniform weights determine no others
  const temperature = fixed ? 1 : sliderTemperature(root) / before;
  send(root, "preview", { kind: "temperature", temperature, step });
}

/** Requests the chosen temperature as a what-if, if it has changed. */
function requestTemperature(/** @type {ControlsState} */ state) {
  const { root } = state;
  if (!state.pending) return;
  state.pending = false;
  const chosen = sliderTemperature(root), every = isForAllSteps(root);
  const temperature = chosen === Infinity ? "Infinity" : Number(chosen.toPrecision(3));
  intervene(root, (step) => ({ kind: "temperature", temperature, step: every ? null : step }));
}

/** Listens to the slider of the temperature: the bars follow it, and the what-if is requested at the end of a drag;
 * with the keyboard, at Enter or on blur. */
function listenToTemperature(/** @type {ControlsState} */ state) {
  const { root } = state, slider = find(root, ".degrees", HTMLInputElement);
  let pointed = false;
  slider.onpointerdown = () => pointed = true;
  slider.oninput = () => {
    state.pending = true;
    previewTemperature(state);
  };
  slider.onchange = () => {
    if (!pointed) return;
    pointed = false;
    requestTemperature(state);
    slider.blur(); // after the mouse, the arrow keys are to step
  };
  slider.onblur = () => requestTemperature(state);
  slider.onkeydown = (event) => {
    pointed = false;
    if (event.key === "Enter") requestTemperature(state);
    else if (event.key === "Escape" && state.pending) { // reverts what was chosen but not requested
      state.pending = false;
      send(root, "preview", null);
      setTemperature(state);
    } else return;
    event.preventDefault();
  };
  find(root, ".every", HTMLInputElement).onchange = () => setTemperature(state);
}

/** @param {HTMLSelectElement} box @param {[string, string][]} options value and name of each */
function setOptions(box, options) {
  const chosen = box.value;
  box.replaceChildren(...options.map(([value, name]) => new Option(name, value, false, value === chosen)));
}

function borrow(/** @type {HTMLElement} */ root) {
  const { value } = find(root, ".lender", HTMLSelectElement), links = find(root, ".links", HTMLInputElement);
  if (value === "links" && !links.value.trim()) return links.focus();
  const [lender, model] = value.split(/ (.*)/s); // "model NAME", or one word
  const of = model ?? (lender === "step" ? find(root, ".of", HTMLSelectElement).value : links.value.trim());
  intervene(root, (step) => ({ kind: "borrowed", lender, of, step }));
}

export default component(".weight_controls", {
  start(/** @type {ControlsState} */ state) {
    const { root } = state, source = () => viewState(root).source ?? 0;
    const replaceWeights = (/** @type {(piece: number) => number} */ weight) => {
      const weights = state.payload?.pieces.map((_, piece) => weight(piece));
      if (weights) intervene(root, (step) => ({ kind: "weights", weights, step }));
    };
    onPress(find(root, ".only"), () => replaceWeights((piece) => Number(piece === source())));
    onPress(find(root, ".without"), () => intervene(root, (step) => ({ kind: "exclusion", position: source(), step })));
    onPress(find(root, ".alike"), () => replaceWeights(() => 1));
    onPress(find(root, ".undo"), () => send(root, "try", { kind: "undo" }));
    onPress(find(root, ".take"), () => borrow(root));
    find(root, ".links").onkeydown = (event) => {
      if (event.key === "Enter") borrow(root);
    };
    for (const input of findAll(root, ".then input", HTMLInputElement)) {
      input.name = `${viewState(root).name}-then`;
      input.onchange = () => viewState(root).held = input.value === "held";
    }
    listenToTemperature(state);
  },
  take(state) {
    const { root, data } = state;
    write(find(root, ".problem"), data.problem);
    if (data.problem) send(root, "preview", null); // the request failed
    state.payload = undefined; // the models may have changed
  },
  /** Reads a new payload, of another translation or language. */
  read({ root, data }, payload) {
    const { words } = payload;
    find(root, ".every").title = words.every;
    setOptions(find(root, ".lender", HTMLSelectElement), [
      ["step", words.ofStep],
      .../** @type {[string, string][]} */ (payload.posterior ? [["posterior", words.ofPosterior]] : []),
      ["links", words.ofLinks],
      ...data.models.map((name) => /** @type {[string, string]} */ ([`model ${name}`, fill(words.ofModel, { name })])),
    ]);
    setOptions(
      find(root, ".of", HTMLSelectElement),
      payload.written.map((name, i) => [String(i), `${i + 1} · ${name}`]),
    );
  },
  show(state, { words, pieces }) {
    const { root } = state, { step, source, held } = viewState(root);
    if (step === null) return;
    const here = pieces[source ?? 0];
    write(find(root, ".hint"), fill(words.hint, { name: here }));
    for (const name of ["only", "without"]) {
      find(root, `.${name}`).setAttribute("aria-label", `${words[name]}: ${here}`);
    }
    find(root, ".undo", HTMLButtonElement).disabled = !state.data.undo;
    for (const input of findAll(root, ".then input", HTMLInputElement)) {
      input.checked = (input.value === "held") === held;
    }
    if (step !== state.step || !state.pending) setTemperature(state);
    state.step = step;
  },
});
