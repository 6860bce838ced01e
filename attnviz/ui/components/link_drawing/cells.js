// The cells over the heatmap in which links are drawn: one grid for pointer, finger and keyboard, whose focused cell
// moves, and a marker for each link. They are elements over the chart, since Plotly draws too slowly.

import { axisOf } from "../chart/marks.js";
import { element, findAll } from "../elements.js";

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

/** Puts cells over the heatmap in `container`, and keeps them there while it is drawn again.
 * @param {Element} container @param {CellControl} control @param {AbortSignal} signal @returns {LinkCells} */
export function openCells(container, control, signal) {
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

  /** @param {number} rowNumber @param {number} columnNumber */
  function move(rowNumber, columnNumber) {
    const { source, target } = control.payload();
    here = {
      row: placeOfWord(targets, target.length, rowNumber, here.row),
      column: placeOfWord(sources, source.length, columnNumber, here.column),
    };
    describe();
    control.point(linkHere(), numberAt(chart, here.row, here.column));
  }

  function describe() {
    const { source, target, words } = control.payload(), [j, i] = linkHere();
    Object.assign(cell.style, boxOf(here.row, here.column));
    const kind = words[control.kindOf([j, i]) ?? "none"];
    const text = words.cell.replace("{target}", target[i]).replace("{source}", source[j]).replace("{kind}", kind);
    row.ariaRowIndex = String(here.row + 1);
    Object.assign(cell, { ariaLabel: text, ariaColIndex: String(here.column + 1) });
  }

  /** @param {number} rowNumber @param {number} columnNumber */
  const boxOf = (rowNumber, columnNumber) => ({
    left: `${100 * columnNumber / sources.length}%`,
    top: `${100 * rowNumber / targets.length}%`,
    width: `${100 / sources.length}%`,
    height: `${100 / targets.length}%`,
  });

  /** Whether a point of the window is in a cell of two words; makes that cell the current one.
   * @param {MouseEvent} event */
  function moveTo({ clientX, clientY }) {
    const box = grid.getBoundingClientRect(), { source, target } = control.payload();
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
    control.advance(linkHere());
  });
  cell.addEventListener("focus", () => move(here.row, here.column));
  cell.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (isUndoKey(event)) control.undo();
    else if (ctrlKey || metaKey || altKey) return;
    else if (key in MOVES) {
      move(here.row + MOVES[key][0], here.column + MOVES[key][1]);
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (key === "Enter" || key === " ") control.advance(linkHere());
    else if (key === "Escape") cell.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function drawMarkers() {
    const height = grid.clientHeight / targets.length, width = grid.clientWidth / sources.length;
    markers.style.setProperty("--size", `${Math.min(Math.max(0.46 * Math.min(height, 2 * width), 7), 15)}px`);
    markers.replaceChildren(
      ...control.markers().flatMap(({ kind, link: [j, i] }) =>
        placesOf(targets, i).flatMap((rowNumber) =>
          placesOf(sources, j).map((columnNumber) => {
            const left = `${100 * (columnNumber + 0.5) / sources.length}%`;
            const style = { left, top: `${100 * (rowNumber + 0.5) / targets.length}%` };
            return element("span", `marker ${kind}`, { dataset: { link: `${j}-${i}` }, style });
          })
        )
      ),
    );
  }

  function place() {
    chart = /** @type {Chart | null} */ (container.querySelector(".chart"));
    const layout = chart?._fullLayout, { steps, sources: pieces } = chart?.layout?.meta ?? {};
    const scroll = chart?.closest(".scroll");
    if (!chart || !layout?.xaxis || !steps || !pieces || !scroll) return grid.remove();
    const x = axisOf(chart, "x"), y = axisOf(chart, "y"), { sourceWords, targetWords, words } = control.payload();
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
    here = {
      row: placeOfWord(targets, control.payload().target.length, here.row, 0),
      column: placeOfWord(sources, control.payload().source.length, here.column, 0),
    };
    describe();
    drawMarkers();
  }

  let frame = 0;
  const placeSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(place);
  };
  const resizing = new ResizeObserver(placeSoon);
  resizing.observe(container);
  const drawing = new MutationObserver((changes) => {
    if (changes.every(({ target }) => grid.contains(target))) return;
    for (const node of findAll(container, ".chart")) resizing.observe(node);
    if (changes.some(({ target }) => target instanceof Element && target.closest(".chart, .chart-box") !== null)) {
      placeSoon();
    }
  });
  drawing.observe(container, { childList: true, subtree: true });
  for (const node of findAll(container, ".chart")) resizing.observe(node);
  signal.addEventListener("abort", () => {
    cancelAnimationFrame(frame);
    resizing.disconnect();
    drawing.disconnect();
    chart?.classList.remove("roomy");
    grid.remove();
  });
  return { place };
}

/** Whether a key undoes the last edit. @param {KeyboardEvent} event */
export const isUndoKey = ({ key, ctrlKey, metaKey }) => (ctrlKey || metaKey) && key.toLowerCase() === "z";

/** The place nearest to the wanted one, from another, whose word can be linked: `</s>` and other special tokens cannot.
 * @param {number[]} words @param {number} count @param {number} wanted @param {number} from */
function placeOfWord(words, count, wanted, from) {
  const places = words.flatMap((word, place) => word < count ? [place] : []), back = wanted < from;
  const nearest = back ? places.findLast((place) => place <= wanted) : places.find((place) => place >= wanted);
  return nearest ?? places.at(back ? 0 : -1) ?? 0;
}

/** @param {number[]} words @param {number} word */
const placesOf = (words, word) => words.flatMap((here, place) => here === word ? [place] : []);

/** The number that the heatmap shows of a cell; empty in a heatmap without texts.
 * @param {Chart | null} chart @param {number} row @param {number} column */
function numberAt(chart, row, column) {
  /** @type {any} */
  const heatmap = chart?._fullData?.find(({ type }) => type === "heatmap");
  const [, ...lines] = String(heatmap?.text?.[row]?.[column] ?? "").split("<br>");
  return lines[0] ?? "";
}
