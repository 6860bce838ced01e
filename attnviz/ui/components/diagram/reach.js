// What the mouse, a finger and the keyboard do to the diagram: a source piece is chosen, or one goes to a stage.

import { find } from "../shared.js";
import { chooseIn, pointAt, send } from "../view.js";
import { area, group, put } from "./svg.js";

/**
 * Lays the columns that can be pointed at over the drawing.
 * @param {HTMLElement} root
 * @param {Element} drawing
 * @param {DiagramState} state
 */
export function reachColumns(root, drawing, state) {
  const { plan, parts } = state;
  if (!plan) return;
  const { across, columns } = plan, deep = across.ribbons[0];
  const part = group(drawing, "reaches");
  columns.forEach(({ middle, room }, j) => {
    const reach = put(part, "rect", { ...area(plan, middle - room / 2, 0, room, deep), class: "column" });
    reach.addEventListener("click", (event) => choosePiece(root, plan, j, /** @type {MouseEvent} */ (event)));
    for (const node of [reach, ...(parts.ribbons[j] ? [parts.ribbons[j]] : [])]) {
      node.addEventListener("pointerenter", () => pointAt(root, { source: j }));
      node.addEventListener("pointerleave", () => pointAt(root, null));
    }
  });
}

/**
 * A click on what the encoder made chooses its piece; one on what the step made of it leads to that stage.
 * @param {HTMLElement} root
 * @param {Plan} plan
 * @param {number} j
 * @param {MouseEvent} event
 */
function choosePiece(root, plan, j, event) {
  const box = find(root, ".drawing", SVGElement).getBoundingClientRect(), { across } = plan;
  const here = plan.standing ? event.clientX - box.left : event.clientY - box.top;
  if (!across.query || here < across.query) chooseIn(root, { source: j });
  else goTo(root, here < (across.energyNumber || across.energy[1]) + 6 ? 1 : 2);
}

/**
 * @param {HTMLElement} root
 * @param {number} stage
 */
function goTo(root, stage) {
  chooseIn(root, { stage });
  send(root, "visit", stage);
}

/**
 * Listens for what leads to a stage.
 * @param {HTMLElement} root
 */
export function reachStages(root) {
  /** @param {Event} event */
  const stageAt = (event) => {
    const part = event.target instanceof Element ? event.target.closest("[data-stage]") : null;
    return part instanceof SVGElement ? Number(part.dataset.stage) : null;
  };
  const drawing = find(root, ".drawing", SVGElement);
  drawing.addEventListener("click", (event) => {
    const stage = stageAt(event);
    if (stage) goTo(root, stage);
  });
  drawing.addEventListener("keydown", (event) => {
    const stage = event.key === "Enter" || event.key === " " ? stageAt(event) : null;
    if (!stage) return;
    event.preventDefault(); // Space would play
    goTo(root, stage);
  });
}
