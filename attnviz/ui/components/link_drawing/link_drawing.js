// Drawing word links on the heatmap: their number and score above it, Undo and the files to download below it. Each edit is
// shown at once and sent to the server, which stores the word links, writes the address and makes the files. The cells over
// the heatmap are one grid for pointer, finger and keyboard, whose focused cell moves, with a marker for each link; they are
// elements over the chart, since Plotly draws too slowly. `links.js` computes the score and what a click changes.

import { axisOf, numberAt } from "../chart/marks.js";
import { component } from "../component.js";
import { element, find, findAll, write } from "../elements.js";
import { fill, number, percent } from "../numbers.js";
import { lastAcknowledged, sendRequest } from "../outbox/outbox.js";
import { payloadOf } from "../payloads.js";
import { saveFile } from "../saved_file.js";
import { viewRoot } from "../view.js";
import { advanced, linksText, nameOf, pairsOf, readLinks, scoreOf } from "./links.js";

/** @type {Record<string, [number, number]>} */
const MOVES = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
  PageUp: [-Infinity, 0],
  PageDown: [Infinity, 0],
};

const FINGER = 24; // pixels of a column that a finger can tap

/** Puts cells over the heatmap in `container`, and keeps them there while it is drawn again. Returns what puts cells
 * and markers where the heatmap now has them. */
function openCells(/** @type {Element} */ container, /** @type {LinkDrawingState} */ state) {
  const cell = element("div", "cell", { role: "gridcell", tabIndex: 0 });
  const row = element("div", "row", { role: "row" }, cell);
  const markers = element("div", "markers", { ariaHidden: "true" });
  const grid = element("div", "link-cells", { role: "grid" }, markers, row);
  let here = { row: 0, column: 0 }; // row and column of the current cell
  /** The words of the rows and columns; those of `</s>` and beyond are no words. @type {number[]} */
  let targets = [];
  /** @type {number[]} */
  let sources = [];
  /** @type {Chart | null} */
  let chart = null;

  /** @returns {LinkPair} */
  const linkHere = () => [sources[here.column], targets[here.row]];
  /** Goes to the words nearest to a cell. @param {number} row @param {number} column @param {typeof here} from */
  const goTo = (row, column, from) => {
    const { source, target } = state.data;
    here = {
      row: placeOfWord(targets, target.length, row, from.row),
      column: placeOfWord(sources, source.length, column, from.column),
    };
    describeCell();
  };

  function move(/** @type {number} */ row, /** @type {number} */ column) {
    goTo(row, column, here);
    const weight = chart && numberAt(chart, "x", here.row, here.column);
    const text = chart && weight !== null ? `${chart.layout.meta.symbol} = ${number(weight, 4)}` : "";
    state.pointed = { link: linkHere(), number: text };
    describe(state);
  }

  function describeCell() {
    Object.assign(cell.style, {
      left: `${100 * here.column / sources.length}%`,
      top: `${100 * here.row / targets.length}%`,
      width: `${100 / sources.length}%`,
      height: `${100 / targets.length}%`,
    });
    row.ariaRowIndex = String(here.row + 1);
    Object.assign(cell, { ariaLabel: cellText(state, linkHere()), ariaColIndex: String(here.column + 1) });
  }

  /** Whether a point of the window is in a cell of two words; makes that cell the current one. */
  function moveTo(/** @type {MouseEvent} */ { clientX, clientY }) {
    const box = grid.getBoundingClientRect(), { source, target } = state.data;
    const rowNumber = Math.floor((clientY - box.top) / box.height * targets.length);
    const columnNumber = Math.floor((clientX - box.left) / box.width * sources.length);
    if (!(targets[rowNumber] < target.length && sources[columnNumber] < source.length)) return false;
    if (rowNumber !== here.row || columnNumber !== here.column || !grid.matches(":hover")) {
      move(rowNumber, columnNumber);
    }
    return true;
  }

  grid.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") moveTo(event);
  });
  grid.addEventListener("click", (event) => {
    if (!moveTo(event)) return;
    cell.focus({ preventScroll: true });
    advance(state, linkHere());
  });
  cell.addEventListener("focus", () => move(here.row, here.column));
  cell.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (isUndoKey(event)) undo(state);
    else if (ctrlKey || metaKey || altKey) return;
    else if (key in MOVES) {
      move(here.row + MOVES[key][0], here.column + MOVES[key][1]);
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (key === "Enter" || key === " ") advance(state, linkHere());
    else if (key === "Escape") cell.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function drawMarkers() {
    const height = grid.clientHeight / targets.length, width = grid.clientWidth / sources.length;
    markers.style.setProperty("--size", `${Math.min(Math.max(0.46 * Math.min(height, 2 * width), 7), 15)}px`);
    const marked = markersOf(state).flatMap(({ kind, link: [j, i] }) =>
      placesOf(targets, i).flatMap((row) =>
        placesOf(sources, j).map((column) => ({ kind, link: `${j}-${i}`, row, column }))
      )
    );
    markers.replaceChildren(...marked.map(({ kind, link, row, column }) => {
      const style = {
        left: `${100 * (column + 0.5) / sources.length}%`,
        top: `${100 * (row + 0.5) / targets.length}%`,
      };
      return element("span", `marker ${kind}`, { dataset: { link }, style });
    }));
  }

  function place() {
    chart = /** @type {Chart | null} */ (container.querySelector(".chart"));
    const layout = chart?._fullLayout, { steps, sources: pieces } = chart?.layout?.meta ?? {};
    const scroll = chart?.closest(".scroll");
    if (!chart || !layout?.xaxis || !steps || !pieces || !scroll) return grid.remove();
    const x = axisOf(chart, "x"), y = axisOf(chart, "y"), { sourceWords, targetWords, words } = state.data;
    sources = pieces.map((piece) => sourceWords[Number(piece)]);
    targets = steps.map((step) => targetWords[Number(step)]);
    const { width, _size: { l, r } } = layout;
    const roomy = matchMedia("(pointer: coarse)").matches ? l + r + FINGER * sources.length : 0;
    chart.style.setProperty("--roomy", `${Math.max(roomy, 0)}px`);
    chart.classList.toggle("roomy", roomy > width || chart.classList.contains("roomy"));
    Object.assign(grid.style, {
      left: `${x._offset}px`,
      top: `${y._offset}px`,
      width: `${x._length}px`,
      height: `${y._length}px`,
    });
    const [ariaRowCount, ariaColCount] = [targets, sources].map(({ length }) => String(length));
    Object.assign(grid, { ariaLabel: words.cells, ariaRowCount, ariaColCount });
    cell.ariaDescription = words.keys;
    if (grid.parentElement !== scroll) scroll.append(grid);
    goTo(here.row, here.column, { row: 0, column: 0 });
    drawMarkers();
  }

  container.addEventListener("attnviz:drawn", place, { signal: state.signal });
  state.signal.addEventListener("abort", () => {
    chart?.classList.remove("roomy");
    grid.remove();
  });
  return place;
}

/** Whether a key undoes the last edit. @param {KeyboardEvent} event */
const isUndoKey = ({ key, ctrlKey, metaKey }) => (ctrlKey || metaKey) && key.toLowerCase() === "z";

/** The place nearest to the wanted one, from another, whose word can be linked: `</s>` and other special tokens cannot.
 * @param {number[]} words @param {number} count @param {number} wanted @param {number} from */
function placeOfWord(words, count, wanted, from) {
  const places = words.flatMap((word, place) => word < count ? [place] : []), back = wanted < from;
  const nearest = back ? places.findLast((place) => place <= wanted) : places.find((place) => place >= wanted);
  return nearest ?? places.at(back ? 0 : -1) ?? 0;
}

/** @param {number[]} words @param {number} word */
const placesOf = (words, word) => words.flatMap((here, place) => here === word ? [place] : []);

/** The links of each pair, the current ones last; Undo restores those before. @type {Map<string, DrawnLinks[]>} */
const histories = new Map();
const LONGEST_HISTORY = 1000;

/** Makes other links the current ones of a pair. */
function remember(/** @type {LinkDrawingState} */ state, /** @type {DrawnLinks} */ links) {
  const history = historyOf(state), last = history.at(-1);
  if (last && linksText(last) === linksText(links)) return;
  history.push(links);
  if (history.length > LONGEST_HISTORY) history.shift();
}

function historyOf(/** @type {LinkDrawingState} */ { data }) {
  const name = `${data.request} ${data.identity}`;
  const known = histories.get(name) ?? [];
  histories.set(name, known);
  return known;
}

/** Shows other links, and sends them to the server. */
function change(/** @type {LinkDrawingState} */ state, /** @type {DrawnLinks} */ links) {
  const { request, identity } = state.data;
  state.links = links;
  state.asked = sendRequest(request, { identity, links: linksText(links) });
  show(state);
}

function advance(/** @type {LinkDrawingState} */ state, /** @type {LinkPair} */ link) {
  const { root, data: { most, words } } = state;
  if (state.links.size >= most && !state.links.has(nameOf(link))) {
    write(find(root, ".where output"), fill(words.most, { most }));
    return;
  }
  const links = advanced(state.links, link);
  remember(state, links);
  change(state, links);
}

function undo(/** @type {LinkDrawingState} */ state) {
  const history = historyOf(state);
  if (history.length < 2) return;
  history.pop();
  change(state, history[history.length - 1]);
}

/** The words of a cell and its link. @param {LinkDrawingState} state @param {LinkPair} link */
const cellText = ({ data: { source, target, words }, links }, [j, i]) =>
  fill(words.cell, { target: target[i], source: source[j], kind: words[links.get(nameOf([j, i])) ?? "none"] });

/** Writes which cell is pointed at: its words, its link and its weight. */
function describe(/** @type {LinkDrawingState} */ state) {
  if (!state.pointed) return;
  const { link, number: weight } = state.pointed, text = cellText(state, link);
  write(find(state.root, ".where output"), weight ? `${text} · ${weight}` : text);
}

function show(/** @type {LinkDrawingState} */ state) {
  const { root, data, links } = state, { words } = data;
  const attention = payloadOf(/** @type {FetchingState<AttentionLinks>} */ (state), show);
  const { rates, wrong } = scoreOf(attention?.links ?? [], links);
  const sure = [...links.values()].filter((kind) => kind === "sure").length;
  const counts = { sure, possible: links.size - sure, false: links.size ? wrong.length : 0 };
  const line = viewRoot(root).querySelector(".drawn-score"); // above the heatmap, in view while links are drawn
  if (line && !line.contains(state.score)) line.replaceChildren(state.score);
  const shown = links.size ? Object.entries(counts) : [];
  find(state.score, ".counts").replaceChildren(...shown.flatMap(([kind, count]) => {
    const marker = element("span", `marker ${kind}`, { ariaHidden: "true" });
    return [element("span", "count", marker, fill(words[`count-${kind}`], { count })), " "];
  }));
  let score = "";
  if (rates && links.size && attention) {
    const [aer, precision, recall] = [number(rates.aer, 2), percent(rates.precision), percent(rates.recall)];
    score = fill(words.score, { face: attention.face, aer, precision, recall });
  }
  write(find(state.score, ".rate"), score);
  find(root, ".undo", HTMLButtonElement).disabled = historyOf(state).length < 2;
  find(root, ".files").hidden = !links.size;
  describe(state);
  state.placeCells();
}

/** The markers on the heatmap: the links drawn, and once there are any, the links of the attention that are not among
 * them. */
function markersOf(/** @type {LinkDrawingState} */ { links, fetched }) {
  const drawn = pairsOf(links);
  if (!drawn.length) return [];
  const { wrong } = scoreOf(fetched?.payload.links ?? [], links);
  return [...drawn, ...wrong.map((link) => ({ kind: /** @type {const} */ ("false"), link }))];
}

/** Writes the links to the files. A click before the server has all links saves the file once it has. */
function writeFiles(/** @type {LinkDrawingState} */ state) {
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

/** Whether the server has the links as drawn. */
const isStored = (/** @type {LinkDrawingState} */ { data, links }) => data.links === linksText(links);

/** Takes the links of the server where it has other ones, unless edits are on their way to it. */
function read(/** @type {LinkDrawingState} */ state) {
  const { data } = state;
  if (state.read === data.links || state.asked > lastAcknowledged() && !isStored(state)) return;
  state.read = data.links;
  state.links = readLinks(data.links);
  remember(state, state.links);
}

export default component(".link-drawing", {
  begin: () => ({ links: new Map(), asked: 0, saving: null }),
  start(/** @type {LinkDrawingState} */ state) {
    const { root, data, signal } = state, score = find(root, ".score");
    const container = viewRoot(root).querySelector(`.st-key-${data.heatmap}`);
    if (!container) throw new Error("there is no heatmap");
    state.score = score;
    state.placeCells = openCells(container, state);
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
    read(state);
    writeFiles(state);
    return true;
  },
  draw: show,
});
