// Form fields: text boxes, select boxes, rows of choices, switches, and buttons that open a section. The value of a field
// is that of the server (values.js), or of a display option of its view (state.js).

import { component } from "../component.js";
import { element, find, findAll, onPress, write } from "../elements.js";
import { makeOneTabStop, pressByArrow } from "../keyboard.js";
import { sendRequest } from "../outbox/outbox.js";
import { onMessage, send, viewState } from "../view.js";
import { commit, fields, newField, settle } from "./values.js";

/** @param {string} key @param {FieldState} field @param {FieldValue} value @param {boolean} [now] */
function edit(key, field, value, now) {
  if (field.choose) return field.choose(value);
  if (value === field.value && !field.edited) return;
  Object.assign(field, { value, edited: true });
  field.show?.();
  if (now) commit(key, field);
}

/** Draws a field of each kind in an element.
 * @type {Record<FieldPayload["kind"], (root: HTMLElement, data: FieldPayload, field: FieldState) => void>} */
const KINDS = {
  /** A text box, which sends its text on blur, with Enter, and before any other request. Shift+Enter begins a line; so does Enter in a box with a height of its own, which is for several lines and sends with Ctrl+Enter. */
  text(root, data, field) {
    const box = root.querySelector("textarea") ?? root.appendChild(element("textarea", ""));
    const { placeholder, disabled, label: ariaLabel, height } = data;
    Object.assign(box, { placeholder, disabled, ariaLabel, rows: 1, enterKeyHint: height ? "enter" : "go" });
    box.style.height = height ? `${height}px` : "";
    const fit = () => {
      if (height || CSS.supports("field-sizing", "content")) return;
      box.style.height = "auto";
      box.style.height = `${box.scrollHeight + 2}px`;
    };
    box.oninput = () => {
      edit(data.key, field, box.value);
      fit();
    };
    box.onchange = () => commit(data.key, field);
    box.onkeydown = (event) => {
      const sends = event.ctrlKey || event.metaKey || data.single_line || !(height || event.shiftKey);
      if (event.key !== "Enter" || event.isComposing || !sends) return;
      event.preventDefault();
      event.stopPropagation();
      commit(data.key, field);
      if (data.button) sendRequest(data.button);
      if (data.single_line) return;
      box.blur(); // the arrow keys are to step
      // A page may show the box without the button.
      if (data.button) findAll(document, `.st-key-${data.button} button`)[0]?.focus();
    };
    field.show = () => {
      if (box.value !== field.value) box.value = String(field.value);
      fit();
    };
  },
  /** A select box. */
  select(root, data, field) {
    const box = root.querySelector("select") ?? root.appendChild(element("select", ""));
    const offered = JSON.stringify(data.options);
    if (box.dataset.offered !== offered) {
      box.replaceChildren(...data.options.map(([value, label]) => new Option(label, value)));
      box.dataset.offered = offered;
    }
    box.disabled = data.disabled;
    box.setAttribute("aria-label", data.label);
    box.onchange = () => edit(data.key, field, box.value, true);
    field.show = () => {
      if (box.value !== field.value) box.value = String(field.value);
    };
  },
  /** A row of choices with the keyboard behaviour of radio buttons. */
  segments(root, data, field) {
    const group = root.firstElementChild ?? root.appendChild(element("div", ""));
    Object.assign(group, { role: "radiogroup", ariaLabel: data.label });
    while (group.children.length > data.options.length) group.lastChild?.remove();
    while (group.children.length < data.options.length) group.append(element("button", ""));
    const buttons = /** @type {HTMLButtonElement[]} */ ([...group.children]);
    buttons.forEach((button, place) => {
      const [value, label] = data.options[place];
      write(button, label);
      button.dataset.value = value;
      button.disabled = data.disabled;
      button.setAttribute("role", "radio");
      onPress(button, () => edit(data.key, field, value, true));
      button.onkeydown = (event) => pressByArrow(event, buttons);
    });
    field.show = () => {
      for (const button of buttons) button.ariaChecked = String(button.dataset.value === field.value);
      makeOneTabStop(buttons, buttons.find((button) => button.dataset.value === field.value) ?? buttons[0]);
    };
  },
  /** A switch. */
  switch(root, data, field) {
    if (!root.childElementCount) root.append(element("label", "", element("input", ""), element("span", "")));
    const box = Object.assign(find(root, "input", HTMLInputElement), { type: "checkbox", role: "switch" });
    write(find(root, "label span"), data.label);
    box.disabled = data.disabled;
    box.onchange = () => edit(data.key, field, box.checked, true);
    field.show = () => box.checked = field.value === true;
  },
  /** A button that opens and closes a section. */
  disclosure(root, data, field) {
    const button = root.querySelector("button") ?? root.appendChild(element("button", ""));
    write(button, data.label);
    button.onclick = () => edit(data.key, field, field.value !== true, true);
    field.show = () => button.ariaExpanded = String(field.value === true);
  },
};

/** The field of a display option of the view. @param {FieldComponent} state @returns {FieldState} */
const optionField = ({ root, data: { option } }) => ({
  ...newField(""),
  choose: (value) => send(root, "choose", { options: { [option]: typeof value === "boolean" ? `${+value}` : value } }),
});

function showOption(/** @type {FieldComponent} */ { root, data, field }) {
  const value = viewState(root).options[data.option] ?? "";
  field.value = ["switch", "disclosure"].includes(data.kind) ? value === "1" : value;
  field.show?.();
}

/** Writes the label and the help text, where there is either. */
function writeLabel(/** @type {HTMLElement} */ root, /** @type {FieldPayload} */ { label, labelled, help, helpName }) {
  const name = find(root, ".field-name"), mark = find(root, ".field-help"), tooltip = find(root, ".field-tooltip");
  name.textContent = labelled ? label : "";
  name.hidden = !labelled;
  mark.hidden = !help;
  mark.setAttribute("aria-label", helpName);
  if (tooltip.dataset.help === help) return;
  tooltip.dataset.help = help;
  const parts = help.split("`").map((part, place) => element(place % 2 ? "code" : "span", "", part));
  tooltip.replaceChildren(...parts);
}

export default component(".field", {
  start(/** @type {FieldComponent} */ state) {
    const { root, data, signal } = state;
    state.field = data.option ? optionField(state) : fields.get(data.key) ?? newField(data.value);
    if (data.option) onMessage(root, "shown", () => showOption(state), signal);
    else fields.set(data.key, state.field);
    signal.addEventListener("abort", () => {
      if (state.field.show === state.show) state.field.show = null; // no newer mount shows it
    });
  },
  take(state) {
    const { root, data, field } = state;
    root.dataset.kind = data.kind;
    const help = find(root, ".field-help");
    if (data.kind === "switch" && root.lastElementChild !== help) root.append(help); // as it is read
    writeLabel(root, data);
    KINDS[data.kind](find(root, ".field-control"), data, field);
    state.show = field.show;
    field.server = data.value;
    if (data.option) showOption(state);
    else settle(field);
  },
});
