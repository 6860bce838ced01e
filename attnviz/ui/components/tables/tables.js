// Data tables of the current selection. Cells are set by textContent, so that they are never markup.

import { payloadOf } from "../payloads.js";
import { drawSoon, element, find, onMessages, states } from "../shared.js";

/** @param {DataTable} one */
function tableOf({ name, columns, rows, texts }) {
  const scroll = element("div", "scroll"),
    table = element("table", ""),
    head = element("thead", ""),
    body = element("tbody", ""),
    heads = element("tr", "");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", name);
  heads.append(...columns.map((column) => {
    const cell = element("th", "", column);
    cell.scope = "col";
    return cell;
  }));
  head.append(heads);
  body.append(...rows.map((row) => {
    const line = element("tr", "");
    line.append(...row.map((text, k) => {
      const cell = element(k ? "td" : "th", "", text);
      if (!k) cell.scope = "row";
      cell.classList.toggle("text", texts[k]);
      return cell;
    }));
    return line;
  }));
  table.append(head, body);
  scroll.append(table);
  return [element("h4", "", name), scroll];
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
  root.replaceChildren(...(tables.length ? tables : [element("p", "", payload.none)]));
}

/** @param {Mounted<PayloadAddress>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".tables");
  /** @type {TablesState} */
  const state = states.get(root) ??
    onMessages(
      root,
      /** @type {TablesState} */ ({ isText: true }),
      ["step", "source", "words", "options"],
      () => drawSoon(root, state, draw),
    );
  state.data = data;
  drawSoon(root, state, draw);
  return state.stop;
}
