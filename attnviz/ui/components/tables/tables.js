// Data tables of the current selection.

import { component } from "../component.js";
import { element } from "../elements.js";

function tableOf(/** @type {DataTable} */ { name, columns, rows, texts }) {
  const heads = columns.map((column) => element("th", "", column, { scope: "col" }));
  const lines = rows.map((row) =>
    row.map((text, k) => {
      const className = texts[k] ? "text" : "";
      return k ? element("td", className, text) : element("th", className, text, { scope: "row" });
    })
  );
  const head = element("thead", "", element("tr", "", ...heads));
  const body = element("tbody", "", ...lines.map((cells) => element("tr", "", ...cells)));
  const region = { tabIndex: 0, role: "region", ariaLabel: name };
  return [element("h4", "", name), element("div", "scroll", element("table", "", head, body), region)];
}

export default component(".tables", {
  /** @param {TablesState} state */
  read({ root }, payload) {
    const tables = payload.tables.flatMap(tableOf);
    root.replaceChildren(...(tables.length ? tables : [element("p", "", payload.none)]));
  },
});
