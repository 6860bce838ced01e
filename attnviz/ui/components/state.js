// The selection of a view: step, source piece, compared words, order of the rows, stage, stop of the tour, and display
// options. The root element of the view and the address store it, so that a link, Back and Forward restore it.

import {
  currentEntry,
  fragmentParameters,
  invalidParameters,
  isEntryShown,
  removeOwner,
  setParameters,
} from "./address.js";
import { strongestFirst } from "./chart/weights.js";
import { isEmbedded } from "./requests.js";
import { onPageMessage } from "./elements.js";
import { fill } from "./numbers.js";
import { drawnRoots, guestOf, send, viewRoot, viewState } from "./view.js";

/** Last selection, by the id of the view, or by its root in a page of others. @type {Map<string | Element, StoredSelection>} */
const storedSelections = new Map();

/** Parses a parameter of the address; null where it is missing or invalid.
 * @param {ViewParameter} parameter @param {URLSearchParams} search */
function parameterValue({ key, kind, first, last, values }, search) {
  const text = search.get(key);
  if (text === null) return null;
  if (kind === "text") return text.slice(0, last);
  if (kind === "choice" || kind === "option") return values.includes(text) ? text : null;
  if (!/^[0-9]{1,6}$/.test(text) || Number(text) < first) return null;
  const number = Number(text);
  if (number > last && kind !== "nearest") return null;
  return Math.min(number, last) - (kind === "name" ? 0 : first);
}

/** Notes a value in the address that is none of the parameter; one that is clipped, too. */
function noteIfInvalid(/** @type {ViewParameter} */ parameter, /** @type {URLSearchParams} */ search) {
  const { key, kind, first, last, values } = parameter, value = search.get(key);
  if (value === null || kind === "text" || (values.length === 0 && last < first)) return;
  const exact = /** @type {const} */ ({ ...parameter, kind: kind === "nearest" ? "number" : kind });
  if (parameterValue(exact, search) === null) invalidParameters.set(key, { value, first, last, values });
}

const NO_WORDS = { word: null, foil: null, typedWord: "", typedFoil: "" };

/** @returns {ViewSelection} */
function emptySelection(step = 0) {
  return { step, source: null, ...NO_WORDS, stage: null, order: null, options: {}, tour: null };
}

/** The display options: those chosen, where this translation offers them, or else the defaults.
 * @param {ViewPayload} data @param {ViewSelection} now @returns {Record<string, string>} */
function shownOptions({ parameters }, { options }) {
  const own = parameters.filter(({ kind }) => kind === "option");
  const shown = own.map(({ name, values }) => [name, values.includes(options[name]) ? options[name] : values[0]]);
  return Object.fromEntries(shown);
}

/** Reads the selection of a view from the address. @param {ViewPayload} data @returns {ViewSelection} */
function selectionFromAddress({ parameters, hasTour, firstStep }) {
  const search = fragmentParameters();
  for (const parameter of parameters) noteIfInvalid(parameter, search);
  /** @type {Record<string, any>} */
  const found = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterValue(parameter, search)]));
  const { step, source, word = null, foil = null, stage, order, tour } = found;
  const now = { ...emptySelection(step ?? firstStep), source, word, foil, stage, order };
  for (const { name, kind } of parameters) {
    if (kind === "option" && found[name] !== null) now.options[name] = found[name];
  }
  if (word !== null) now.typedWord = found.typed_word ?? "";
  if (foil !== null) now.typedFoil = found.typed_foil ?? "";
  if (hasTour && tour !== null) now.tour = { stop: tour, step: now.step, source };
  return now;
}

/** @param {ViewSelection} now @param {ViewPayload} data @returns {AddressParameters} */
function addressParameters(now, data) {
  const { parameters, firstStep } = data;
  const { step, source } = now.tour ?? now, { stage, order, tour } = now;
  const { word, foil, typedWord, typedFoil } = step === now.step ? now : NO_WORDS; // words belong to their step
  /** @type {Record<string, number | string | null>} */
  const found = {
    ...shownOptions(data, now),
    ...{ source, word, foil, stage, order },
    step: step === firstStep ? null : step,
    "typed_word": typedWord || null,
    "typed_foil": typedFoil || null,
    tour: tour?.stop ?? null,
  };
  return Object.fromEntries(parameters.map(({ name, key, kind, first, last, values }) => {
    const value = found[name];
    if (value === null || value === undefined) return [key, null];
    if (kind === "option" && value === values[0]) return [key, null];
    if (typeof value === "string") return [key, kind === "text" ? value.slice(0, last) : value];
    return [key, String(value + (kind === "name" ? 0 : first))];
  }));
}

/** The previous selection for another translation of the same sentence: at the same step, or the last it has.
 * @param {StoredSelection} before @param {ViewPayload} data @returns {ViewSelection} */
function transferredSelection({ identity, selection }, data) {
  if (identity === data.identity) return { ...selection };
  const now = { ...selection };
  if (now.tour) Object.assign(now, { step: now.tour.step, source: now.tour.source });
  setStep(now, Math.min(now.step, data.steps - 1));
  if (now.source !== null && now.source >= data.sources) now.source = null;
  if (now.tour) now.tour = { ...now.tour, step: now.step, source: now.source };
  return now;
}

function setStep(/** @type {ViewSelection} */ now, /** @type {number} */ step) {
  if (step !== now.step) Object.assign(now, { step, ...NO_WORDS });
}

function endTour(/** @type {ViewSelection} */ now) {
  if (!now.tour) return;
  setStep(now, now.tour.step);
  now.source = now.tour.source;
  now.tour = null;
}

/** The initial selection of a view: that of the address if the view is new or Back or Forward led to this translation;
 * the previous one if the sentence is the same; or else empty. A link to another page keeps the previous one: an
 * address without a step means the first step of its own page. In a page of others, the address is not ours.
 * @param {ViewPayload} data @param {Element} [root] none for a view that the page does not draw */
function initialSelection(data, root) {
  const known = currentEntry()?.views[data.id];
  const before = storedSelections.get(root ? storagePlace(root, data) : data.id);
  // A run that began before Back, or before a reload, may have drawn a translation of another entry since.
  const follows = before
    ? known === data.identity && (before.left || before.identity !== known)
    : [undefined, data.identity].includes(known);
  if (follows && !(root && guestOf(root))) return selectionFromAddress(data);
  if (before?.family === data.family) return transferredSelection(before, data);
  const now = emptySelection(data.firstStep);
  if (!before) return now;
  const { order, options, tour } = before.selection;
  return { ...now, order, options, tour: tour && { stop: tour.stop, step: now.step, source: null } };
}

export function openView(/** @type {HTMLElement} */ root, /** @type {ViewPayload} */ data) {
  const view = viewState(root), other = view.view?.identity !== data.identity;
  view.view = data;
  view.owner = root;
  if (other) view.now = initialSelection(data, root);
  if (!data.hasTour && view.now) endTour(view.now);
  publish(root); // also where the level of detail is another: the speed and the options depend on it
}

/** By what the selection of a view is stored: views in pages of others have no ids of their own.
 * @param {Element} node @param {ViewPayload} data */
const storagePlace = (node, data) => isEmbedded() ? viewRoot(node) : data.id;

/** Removes the address parameters of a view whose component is unmounted; a newer component may already own the view.
 */
export function closeView(/** @type {HTMLElement} */ root) {
  removeOwner(root);
  storedSelections.delete(viewRoot(root));
}

export function change(/** @type {Element} */ node, /** @type {Choice} */ choice) {
  const { now, view } = viewState(node);
  if (!now || !view) return;
  const clamp = (/** @type {number} */ index, /** @type {number} */ count) => Math.min(Math.max(index, 0), count - 1);
  const { step, source, word, foil, stage, order, options, tour } = choice;
  if (tour === null) endTour(now);
  else if (tour !== undefined && view.hasTour) {
    now.tour = { step: now.step, source: now.source, ...now.tour, stop: tour };
  }
  if (step !== undefined) setStep(now, clamp(step, view.steps));
  if (source !== undefined) now.source = source === null ? null : clamp(source, view.sources);
  if (view.parameters.some(({ name }) => name === "word")) {
    if (word !== undefined) Object.assign(now, { word, typedWord: choice.typedWord ?? "" });
    if (foil !== undefined) Object.assign(now, { foil, typedFoil: choice.typedFoil ?? "" });
  }
  if (stage !== undefined) now.stage = stage;
  if (order !== undefined) now.order = order;
  if (options !== undefined) now.options = { ...now.options, ...options };
  publish(node);
}

/** Stores the selection of a view in the address, and for when it is opened again. */
function storeSelection(/** @type {Element} */ node) {
  const { now, view, owner, options } = viewState(node);
  if (!now || !view) return;
  const { identity, family } = view;
  storedSelections.set(storagePlace(node, view), { identity, family, selection: { ...now } });
  const own = addressParameters(now, view);
  const chosen = Object.values({ ...own, ...view.own }).some((value) => value !== null);
  // A step needs its sentence: the default sentence of the page may change.
  const query = { ...(chosen && view.sentence), ...view.own };
  const main = view.main === null ? {} : mainAddressParameters(view.main);
  const suffix = now.tour ? `tour ${now.tour.stop}` : options.form, fragment = { ...main, ...own };
  setParameters(owner, { query, fragment, suffix, identity: [view.id, identity] });
}

/** The address parameters of the main view, on a page that does not draw it. */
function mainAddressParameters(/** @type {ViewPayload} */ main) {
  const before = storedSelections.get(main.id);
  if (before?.identity === main.identity) return addressParameters(before.selection, main);
  const now = initialSelection(main);
  storedSelections.set(main.id, { identity: main.identity, family: main.family, selection: now });
  return addressParameters(now, main);
}

/** Notifies the components of a view of its selection, after all of it is set. */
export function publish(/** @type {Element} */ node) {
  const view = viewState(node), { now, alignment } = view;
  if (!now || !view.view) return;
  const source = now.source ?? strongestFirst(alignment?.[now.step] ?? [])[0] ?? null;
  const order = now.order ?? view.view.usualOrder, options = shownOptions(view.view, now);
  Object.assign(view, { step: now.step, source, order, options });
  storeSelection(node);
  const { dataset } = viewRoot(node); // page.css reads it
  Object.assign(dataset, { ...options, step: String(now.step), stage: now.stage === null ? "" : String(now.stage) });
  send(node, "shown");
}

/** Selects in the views on the page what the address says, where it is about their translations. */
function followAddress(/** @type {(view: ViewPayload) => boolean} */ isAbout) {
  for (const root of drawnRoots()) {
    const view = root.attnvizView;
    if (!view.view || guestOf(root) || !isAbout(view.view)) continue;
    view.now = selectionFromAddress(view.view);
    publish(root);
  }
}

// Back and Forward within a translation are followed at once; others once the server has computed what they show.
onPageMessage("history", () => {
  for (const stored of storedSelections.values()) stored.left = true;
  if (isEntryShown()) followAddress(({ id, identity }) => currentEntry()?.views?.[id] === identity);
});

// Somebody wrote another fragment into the address.
onPageMessage("fragment", () => followAddress(() => true));

/** Names of parameters that no payload depends on. */
const LOCAL = ["stage", "tour", "order", "after_word"];

/** The selection of a view encoded as in the page's address, or only its display options. */
function encodedSelection(/** @type {Element} */ node, /** @type {boolean} */ onlyOptions) {
  const { now, view } = viewState(node);
  if (!now || !view) return "";
  const parameters = view.parameters.filter(({ name, kind }) =>
    !LOCAL.includes(name) && (kind === "option" || !onlyOptions)
  );
  const own = addressParameters({ ...now, tour: null }, { ...view, parameters });
  const written = Object.entries(own).flatMap(([key, value]) => value === null ? [] : [[key, value]]);
  return String(new URLSearchParams(written));
}

/** The address of a payload of the view of `node`. Its {step} stands for the current step, {selection} for all that is
 * selected, {options} for the display options, and the name of an option for its value; `more` are other values.
 * @param {Element} node @param {string} address @param {Record<string, string | number>} [more] */
export function filledAddress(node, address, more) {
  const { step, options } = viewState(node);
  return fill(address, {
    ...options,
    step: step ?? 0,
    get selection() {
      return encodedSelection(node, false);
    },
    get options() {
      return encodedSelection(node, true);
    },
    ...more,
  });
}
