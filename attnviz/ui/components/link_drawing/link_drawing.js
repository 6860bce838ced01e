// Drawing word links on the heatmap: their number and score above it, Undo and the files to download below it. Each edit is
// shown at once and sent to the server, which stores the word links, writes the address and makes the files.
// `cells.js` draws the cells and markers over the heatmap; `links.js` computes the score and what a click changes.

import { component } from "../component.js";
import { lastAcknowledged, sendRequest } from "../outbox/outbox.js";
import { payloadOf } from "../payloads.js";
import { saveFile } from "../saved_file.js";
import { element, find, findAll, write, writeTexts } from "../elements.js";
import { fill, number, percent } from "../numbers.js";
import { viewRoot } from "../view.js";
import { isUndoKey, openCells } from "./cells.js";
import { advanced, linksText, nameOf, pairsOf, readLinks, scoreOf } from "./links.js";

/** The links of each pair, the current ones last; Undo restores those before. @type {Map<string, DrawnLinks[]>} */
const histories = new Map();
const LONGEST_HISTORY = 1000;

/** Makes other links the current ones of a pair. @param {LinkDrawingState} state @param {DrawnLinks} links */
function remember(state, links) {
  const history = historyOf(state), last = history.at(-1);
  if (last && linksText(last) === linksText(links)) return;
  history.push(links);
  if (history.length > LONGEST_HISTORY) history.shift();
}

/** @param {LinkDrawingState} state */
function historyOf({ data }) {
  const name = `${data.request} ${data.identity}`;
  const known = histories.get(name) ?? [];
  histories.set(name, known);
  return known;
}

/** Shows other links, and sends them to the server. @param {LinkDrawingState} state @param {DrawnLinks} links */
function change(state, links) {
  const { request, identity } = state.data;
  state.links = links;
  state.asked = sendRequest(request, { identity, links: linksText(links) });
  show(state);
}

/** @param {LinkDrawingState} state @param {LinkPair} link */
function advance(state, link) {
  const { root, data: { most, words } } = state;
  if (state.links.size >= most && !state.links.has(nameOf(link))) {
    write(find(root, ".where output"), fill(words.most, { most }));
    return;
  }
  const links = advanced(state.links, link);
  remember(state, links);
  change(state, links);
}

/** @param {LinkDrawingState} state */
function undo(state) {
  const history = historyOf(state);
  if (history.length < 2) return;
  history.pop();
  change(state, history[history.length - 1]);
}

/** Writes which cell is pointed at: its words, its link and its weight. @param {LinkDrawingState} state */
function describe({ root, data: { source, target, words }, links, pointed }) {
  if (!pointed) return;
  const { link: [j, i], number: weight } = pointed, kind = words[links.get(nameOf([j, i])) ?? "none"];
  const text = fill(words.cell, { target: target[i], source: source[j], kind });
  write(find(root, ".where output"), weight ? `${text} · ${weight}` : text);
}

/** @param {LinkDrawingState} state */
function show(state) {
  const { root, data, links } = state, { words } = data;
  const attention = payloadOf(/** @type {FetchingState<AttentionLinks>} */ (state), show);
  const { rates, wrong } = scoreOf(attention?.links ?? [], links);
  const sure = [...links.values()].filter((kind) => kind === "sure").length;
  const counts = { sure, possible: links.size - sure, false: links.size ? wrong.length : 0 };
  const line = viewRoot(root).querySelector(".drawn-score"); // above the heatmap, in view while links are drawn
  if (line && !line.contains(state.score)) line.replaceChildren(state.score);
  find(state.score, ".counts").replaceChildren(
    ...Object.entries(counts).flatMap(([kind, count]) => {
      const marker = element("span", `marker ${kind}`, { ariaHidden: "true" });
      return links.size ? [element("span", "count", marker, fill(words[`count-${kind}`], { count })), " "] : [];
    }),
  );
  const values = rates && links.size && attention
    ? {
      face: attention.face,
      aer: number(rates.aer, 2),
      precision: percent(rates.precision),
      recall: percent(rates.recall),
    }
    : null;
  write(find(state.score, ".rate"), values ? fill(words.score, values) : "");
  find(root, ".undo", HTMLButtonElement).disabled = historyOf(state).length < 2;
  find(root, ".files").hidden = !links.size;
  describe(state);
  state.cells.place();
}

/** The markers on the heatmap: the links drawn, and once there are any, the links of the attention that are not among
 * them.
 * @param {LinkDrawingState} state */
function markersOf({ links, fetched }) {
  const drawn = pairsOf(links);
  if (!drawn.length) return [];
  const { wrong } = scoreOf(fetched?.payload.links ?? [], links);
  return [...drawn, ...wrong.map((link) => ({ kind: /** @type {const} */ ("false"), link }))];
}

/** Writes the links to the files. A click before the server has all links saves the file once it has.
 * @param {LinkDrawingState} state */
function writeFiles(state) {
  const { root } = state;
  /** @type {HTMLAnchorElement[]} */
  const anchors = [];
  findAll(root, ".files").forEach((box, place) => {
    const files = state.data.files[place] ?? [], [label] = box.children;
    const own = files.map(({ label: format, at, file }) => {
      const href = new URL(at, document.baseURI).href, index = anchors.length;
      const onclick = (/** @type {Event} */ event) => {
        event.preventDefault();
        if (isStored(state)) saveFile(anchor, (problem) => write(find(root, ".problem"), problem));
        else state.saving = index;
      };
      const anchor = element("a", "", format, { href, download: file, onclick });
      anchors.push(anchor);
      return anchor;
    });
    box.replaceChildren(label, ...own.flatMap((anchor) => [" ", anchor]));
    box.hidden = !files.length;
  });
  if (state.saving === null || !isStored(state)) return;
  const saved = anchors[state.saving];
  state.saving = null;
  saved.click();
}

/** Whether the server has the links as drawn. @param {LinkDrawingState} state */
const isStored = ({ data, links }) => data.links === linksText(links);

/** Takes the links of the server where it has other ones, unless edits are on their way to it.
 * @param {LinkDrawingState} state */
function read(state) {
  const { data } = state;
  if (state.read === data.links || state.asked > lastAcknowledged() && !isStored(state)) return;
  state.read = data.links;
  state.links = readLinks(data.links);
  remember(state, state.links);
}

export default component(".link-drawing", {
  isText: true,
  begin: () => ({ links: new Map(), asked: 0, saving: null }),
  /** @param {LinkDrawingState} state */
  start(state) {
    const { root, data, signal } = state, score = find(root, ".score");
    const container = viewRoot(root).querySelector(`.st-key-${data.heatmap}`);
    if (!container) throw new Error("there is no heatmap");
    state.score = score;
    state.cells = openCells(container, {
      payload: () => state.data,
      markers: () => markersOf(state),
      kindOf: (link) => state.links.get(nameOf(link)) ?? null,
      advance: (link) => advance(state, link),
      undo: () => undo(state),
      point: (link, weight) => {
        state.pointed = { link, number: weight };
        describe(state);
      },
    }, signal);
    find(root, ".undo").onclick = () => undo(state);
    root.addEventListener("keydown", (event) => {
      if (!isUndoKey(event)) return;
      event.preventDefault();
      undo(state);
    }, { signal });
    signal.addEventListener("abort", () => root.prepend(score)); // it stands above the heatmap, and the bar may be drawn again
  },
  take(state, data) {
    const { root } = state;
    if (state.identity !== data.identity) { // another pair: its own links, and no undoing of the former ones
      Object.assign(state, { identity: data.identity, read: undefined, asked: 0, saving: null, pointed: undefined });
      for (const text of findAll(root, ".where output, .problem")) write(text, "");
    }
    writeTexts(root, data.words);
    read(state);
    writeFiles(state);
    return true;
  },
  draw: show,
});
