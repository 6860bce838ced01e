// SVG elements of the diagram (lines, vectors, symbols), and coordinates in its horizontal and vertical layout.

const FILLS = ["var(--plus)", "var(--minus)"];
const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
export function svgElement(tag, attributes, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(text);
  return made;
}

/** An element of a drawing, put into `parent`. @param {Element} parent @param {Parameters<typeof svgElement>} made */
export const addElement = (parent, ...made) => parent.appendChild(svgElement(...made));

/** A path, put into `parent`. @param {Element} parent @param {string} d @param {string} className */
export const addPath = (parent, d, className) => addElement(parent, "path", { d, class: className });

/** A group element. @param {Element} parent @param {string} className */
export const addGroup = (parent, className) => addElement(parent, "g", { class: className });

/** The drawing's coordinates of a place in a plan.
 * @param {Plan} plan @param {number} along @param {number} across @returns {Spot} */
export const spot = ({ vertical }, along, across) => vertical ? [across, along] : [along, across];

/** The drawing's coordinates of an area in a plan, `long` along the sentence and `deep` across it.
 * @param {Plan} plan @param {number} along @param {number} across @param {number} long @param {number} deep
 * @returns {Area} */
export function area({ vertical }, along, across, long, deep) {
  return vertical
    ? { x: across, y: along, width: deep, height: long }
    : { x: along, y: across, width: long, height: deep };
}

/** The path through some points. @param {Spot[]} spots */
export const path = (spots) => `M${spots.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/** A line through some points with rounded corners. */
export function roundedPath(/** @type {Spot[]} */ spots) {
  const radius = 9;
  let drawn = `M${spots[0].join(" ")}`;
  for (let k = 1; k < spots.length - 1; k += 1) {
    const [x, y] = spots[k];
    const [before, after] = [spots[k - 1], spots[k + 1]].map(([toX, toY]) => {
      const far = Math.hypot(toX - x, toY - y) || 1, part = Math.min(radius, far / 2) / far;
      return `${(x + (toX - x) * part).toFixed(1)} ${(y + (toY - y) * part).toFixed(1)}`;
    });
    drawn += `L${before}Q${x} ${y} ${after}`;
  }
  return `${drawn}L${spots[spots.length - 1].join(" ")}`;
}

/** A vector: a frame with a square for each number that is drawn of it. The squares follow one another along its longer
 * side. @param {Element} parent @param {Area} place @param {number} count @param {string} className of its frame */
export function drawVector(parent, { x, y, width, height }, count, className) {
  const lying = width >= height, size = (lying ? width : height) / count;
  addElement(parent, "rect", { x, y, width, height, class: "ground" });
  const squares = Array.from({ length: count }, (_, k) => {
    const place = lying ? { x: x + k * size, y, width: size, height } : { x, y: y + k * size, width, height: size };
    return addElement(parent, "rect", place);
  });
  addElement(parent, "rect", { x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 3, rx: 3, class: className });
  return squares;
}

/** Colours the squares of a vector: blue is positive, red negative, stronger with the square root of the amount.
 * @param {SVGElement[]} squares @param {Float32Array} values @param {number} limit @param {number} [from] */
export function colour(squares, values, limit, from = 0) {
  squares.forEach((square, k) => {
    const value = values[from + k], opacity = Math.sqrt(Math.min(Math.abs(value) / limit, 1)).toFixed(3);
    if (square.getAttribute("fill-opacity") === opacity && square.getAttribute("fill") === FILLS[Number(value < 0)]) {
      return;
    }
    square.setAttribute("fill", FILLS[Number(value < 0)]);
    square.setAttribute("fill-opacity", opacity);
  });
}

/** Writes a text, in a smaller font if it is wider than the `data-width` that it may have. */
export function writeFitted(/** @type {SVGElement} */ node, /** @type {string} */ text) {
  if (!(node instanceof SVGTextElement) || node.textContent === text) return;
  node.textContent = text;
  if (!node.dataset.width) return;
  node.style.fontSize = "";
  const wide = node.getComputedTextLength(), available = Number(node.dataset.width);
  if (wide > available) node.style.fontSize = `${parseFloat(getComputedStyle(node).fontSize) * available / wide}px`;
}

/** A symbol of the equations, its index lowered, which each step writes (`writeStep`); `way` is that of the arrow over it.
 * @param {Element} parent
 * @param {Spot} place of its left end, on the line of writing
 * @param {string} letter @param {string} index @param {{ way?: "→" | "←", className?: string }} [more] */
export function drawSymbol(parent, [x, y], letter, index, { way, className = "" } = {}) {
  const text = addElement(parent, "text", { x, y, class: `symbol ${className}` }, letter);
  addElement(text, "tspan", { class: "index", dy: 4, "data-index": index });
  if (way) {
    const [tail, head, back] = way === "→" ? [x, x + 10, x + 7] : [x + 10, x, x + 3], over = y - 15;
    const arrow = `M${tail} ${over}H${head}M${back} ${over - 2.5}L${head} ${over}L${back} ${over + 2.5}`;
    addPath(parent, arrow, `over ${className}`);
  }
  return text;
}
