// Tables of the current selection. Cells are set by textContent, so that they are never markup.

import { payloadOf } from "../payloads.js";
import { find, follow, soon, states } from "../shared.js";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [text]
 */
function made(tag, text) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** @param {DataTable} one */
function tableOf({ name, columns, rows, texts }) {
  const scroll = made("div"), table = made("table"), head = made("thead"), body = made("tbody"), heads = made("tr");
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", name);
  heads.append(...columns.map((column) => {
    const cell = made("th", column);
    cell.scope = "col";
    return cell;
  }));
  head.append(heads);
  body.append(...rows.map((row) => {
    const line = made("tr");
    line.append(...row.map((text, k) => {
      const cell = made(k ? "td" : "th", text);
      if (!k) cell.scope = "row";
      cell.classList.toggle("text", texts[k]);
      return cell;
    }));
    return line;
  }));
  table.append(head, body);
  scroll.append(table);
  return [made("h4", name), scroll];
}

/**
 * @param {HTMLElement} root
 * @param {TablesState} state
 */
function draw(root, state) {
  const payload = payloadOf(root, state, draw);
  if (!payload || payload === state.payload) return;
  state.payload = payload;
  const tables = payload.tables.flatMap(tableOf);
  root.replaceChildren(...(tables.length ? tables : [made("p", payload.none)]));
}

/** @param {Mounted<Place>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".tables");
  /** @type {TablesState} */
  const state = states.get(root) ??
    follow(
      root,
      /** @type {TablesState} */ ({ light: true }),
      ["step", "source", "words"],
      () => soon(root, state, draw),
    );
  state.data = data;
  soon(root, state, draw);
  return state.stop;
}
