// A player of several translations side by side, stepped together, as columns or as rows. In a column, a step marks the piece
// that is written and shades the source words that it attends to. In a row, it shows one of several versions of a
// translation, such as that of a longer prefix, and the source words left out.

import { newPlayer } from "../clock.js";
import { component } from "../component.js";
import { drawPixels, element, find, findAll, markAdjoining, shade, write } from "../elements.js";
import { bytesOf, number } from "../numbers.js";
import { change } from "../state.js";
import { onMessage, onViewKey, viewState } from "../view.js";

const LEVELS = ["level-0", "level-1", "level-2", "level-3"]; // classes of shaded words, the most probable first

function laneElement(/** @type {Lane} */ lane) {
  const head = element("h3", "name", lane.name, " ", element("small", "model", lane.model)),
    node = element("section", "lane");
  const versions = lane.versions.length > 0, note = element("p", "note", ...(versions ? exchanged(lane.notes) : []));
  if (versions) node.append(element("div", "label", head, note));
  else node.append(head, element("p", "summary", lane.summary));
  if (lane.source.length || versions) {
    const source = element("p", "source", { lang: "en" });
    if (versions) source.append(...exchanged(lane.versions.map(({ source }) => joined(source))));
    const words = lane.source.map(({ text }) => element("span", text === "</s>" ? "word end" : "word", text));
    markAdjoining(words, lane.source);
    // The end mark, and what follows without a space, do not begin a line.
    const between = lane.source.map(({ text, space }) => text === "</s>" ? "\u00a0" : space ? " " : "\u2060");
    source.append(...words.flatMap((word, k) => [between[k], word]));
    node.append(source);
  }
  if (lane.strip) {
    node.append(element("canvas", "strip", { ariaHidden: "true" }), element("p", "strip-caption", lane.strip.caption));
  }
  const parts = lane.parts.map((part) =>
    element("span", part === " </s>" ? "part end" : "part", part.replace(" </s>", "\u00a0</s>"))
  );
  const exchangedWords = versions ? exchanged(lane.versions.map(({ words }) => joined(words))) : [];
  node.append(element("p", "target", { lang: "fr" }, ...parts, ...exchangedWords));
  if (!versions) node.append(note);
  return node;
}

/** An element for texts that are exchanged, and a hidden one for each, which take the room of the highest: nothing
 * moves. */
function exchanged(/** @type {string[]} */ texts) {
  const spacers = [...new Set(texts)].map((text) => element("span", "spacer", text, { ariaHidden: "true" }));
  return [element("span", "text"), ...spacers];
}

const joined = (/** @type {[string, ...unknown[]][]} */ words) => words.map(([word]) => word).join("");

/** Builds all lanes of a payload. */
export function build(/** @type {HTMLElement} */ root, /** @type {LanesPayload} */ payload) {
  const box = find(root, ".beside");
  box.style.setProperty("--lanes", String(payload.lanes.length));
  box.replaceChildren(...payload.lanes.map(laneElement));
  write(find(root, ".result"), payload.result);
  const legend = payload.legend.map(([text, kind]) => element("span", `shaded ${kind}`, text));
  find(root, ".legend").replaceChildren(...legend);
  root.classList.toggle("rows", payload.legend.length > 0);
}

/** A colour of the page as red, green and blue. */
function colour(/** @type {HTMLElement} */ root, /** @type {string} */ name) {
  const [, ...pairs] = /#(..)(..)(..)/.exec(getComputedStyle(root).getPropertyValue(name)) ?? ["", "80", "80", "80"];
  return pairs.map((pair) => parseInt(pair, 16));
}

/** Draws the numbers of a step, a stripe each: red below 0, blue above, with opacity by the square root of the amount.
 * @param {HTMLElement} root @param {HTMLCanvasElement} canvas @param {NonNullable<Lane["strip"]>} strip
 * @param {number} step */
function paintStrip(root, canvas, { bytes, units }, step) {
  const all = new Int8Array(bytesOf(bytes).buffer);
  const row = Math.min(step, all.length / units - 1);
  if (canvas.dataset.row === String(row)) return;
  canvas.dataset.row = String(row);
  const [plus, minus] = ["--st-blue-color", "--st-red-color"].map((name) => colour(root, name));
  const values = Array.from(all.subarray(row * units, (row + 1) * units));
  const opacity = (/** @type {number} */ value) => 255 * Math.sqrt(Math.abs(value) / 127);
  drawPixels(canvas, units, values.map((value) => [...(value < 0 ? minus : plus), opacity(value)]));
}

/** Draws one of several translations: its words, shaded, above the source words, of which some are left out. */
function paintVersion(/** @type {HTMLElement} */ node, /** @type {Version} */ { words, source }) {
  const target = words.flatMap(([text, level, title]) => spaced(text, "span", `shaded ${LEVELS[level]}`, title));
  find(node, ".target > .text").replaceChildren(...target);
  const origin = source.flatMap(([text, isOmitted]) => spaced(text, isOmitted ? "s" : "span", "", ""));
  find(node, ".source > .text").replaceChildren(...origin);
}

/** An element with a word, after the blank that `text` begins with.
 * @param {string} text @param {"s" | "span"} tag @param {string} className @param {string} title */
function spaced(text, tag, className, title) {
  const word = element(tag, className, text.trimStart(), title ? { title } : undefined);
  return text.startsWith(" ") ? [" ", word] : [word];
}

/** @param {HTMLElement} root @param {HTMLElement} node @param {Lane} lane @param {number} step */
function paintLane(root, node, lane, step) {
  const { weights, strip, parts, versions, notes } = lane;
  const now = weights?.[Math.min(step, weights.length - 1)];
  const ended = parts.length > 0 && step >= parts.length;
  findAll(node, ".source .word").forEach((word, k) => {
    const share = now && !ended ? now[k] : 0;
    shade(word, share);
    word.style.setProperty("--bar", String(share));
    word.title = now ? `α = ${number(share, 2)}` : "";
  });
  if (strip) paintStrip(root, find(node, ".strip", HTMLCanvasElement), strip, step);
  findAll(node, ".target .part").forEach((part, k) => {
    part.classList.toggle("now", k === step);
    part.classList.toggle("later", k > step);
  });
  if (versions.length) paintVersion(node, versions[Math.min(step, versions.length - 1)]);
  const note = versions.length ? ".note > .text" : ".note";
  write(find(node, note), notes[Math.min(step, notes.length - 1)] ?? "");
}

const PACE = 800; // milliseconds a step stays while playing

/** Shows the step of the view. */
function show(/** @type {LanesState} */ state) {
  const { root, payload } = state, { step } = viewState(root);
  if (!payload || step === null) return;
  state.step = Math.min(Math.max(step, 0), payload.labels.length - 1);
  const { lanes, labels, words } = payload, label = labels[state.step];
  findAll(root, ".lane").forEach((node, k) => paintLane(root, node, lanes[k], state.step));
  state.player.write(words, label);
  write(find(root, ".where"), label);
}

export default component(".lanes", {
  begin: () => ({ payload: null, step: 0 }),
  start(state) {
    const { root, signal } = state;
    const player = state.player = newPlayer(state, {
      here: () => state.step,
      last: () => (state.payload?.labels.length ?? 1) - 1,
      go(step) {
        if (state.payload) change(root, { step });
      },
      paint: () => show(state),
      pace: () => PACE,
    });
    onViewKey(root, player.onKey, signal);
    onMessage(root, "choose", ({ detail }) => {
      if (detail.step === undefined) return;
      player.pause();
      show(state);
    }, signal);
  },
  take(/** @type {LanesState} */ state, /** @type {LanesPayload | PayloadAddress & { waiting: string }} */ data) {
    state.root.dataset.message = "at" in data ? data.waiting : "";
    state.inSight ||= !("at" in data); // what is sent with the page is drawn at once
  },
  read(state, payload) {
    build(state.root, payload);
  },
  show,
});
