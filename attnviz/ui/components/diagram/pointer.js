// Pointer and keyboard in the diagram: a source piece is highlighted or chosen, or the page scrolls to a stage.

import { find } from "../shared.js";
import { send, sendPointed } from "../view.js";
import { addElement, addGroup, area } from "./svg.js";

/** Adds a transparent target over each column, for hovering and clicking.
 * @param {HTMLElement} root @param {Element} drawing @param {Plan} plan @param {DiagramParts} parts */
export function addColumnTargets(root, drawing, plan, parts) {
  const { across, columns } = plan, deep = across.ribbons[0];
  const part = addGroup(drawing, "reaches");
  columns.forEach(({ middle, width }, j) => {
    const target = addElement(part, "rect", { ...area(plan, middle - width / 2, 0, width, deep), class: "column" });
    target.addEventListener("click", (event) => choosePiece(root, plan, j, /** @type {MouseEvent} */ (event)));
    for (const node of [target, ...(parts.ribbons[j] ? [parts.ribbons[j]] : [])]) {
      node.addEventListener("pointerenter", () => sendPointed(root, { source: j }));
      node.addEventListener("pointerleave", () => sendPointed(root, null));
    }
  });
}

/** Handles a click on a column: in the encoder it chooses the piece, below it goes to the stage.
 * @param {HTMLElement} root @param {Plan} plan @param {number} j @param {MouseEvent} event */
function choosePiece(root, plan, j, event) {
  const box = find(root, ".drawing", SVGElement).getBoundingClientRect(), { across } = plan;
  const here = (plan.vertical ? event.clientX - box.left : event.clientY - box.top) * plan.width / box.width;
  if (!across.query || here < across.query) send(root, "choose", { source: j });
  else goTo(root, here < (across.energyNumber || across.energy[1]) + 6 ? 1 : 2);
}

/** @param {HTMLElement} root @param {number} stage */
function goTo(root, stage) {
  send(root, "choose", { stage });
  send(root, "visit", stage);
}

/** Listens for clicks on the links to the stages. @param {HTMLElement} root */
export function listenToStages(root) {
  find(root, ".drawing", SVGElement).addEventListener("click", ({ target }) => {
    const part = target instanceof Element ? target.closest("[data-stage]") : null;
    const stage = part instanceof SVGElement ? Number(part.dataset.stage) : 0;
    if (stage) goTo(root, stage);
  });
}
