"""Mount data tables of the current selection, each with its name, and the box that they are in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.languages import format_number, gettext
from attnviz.ui.components.component import component, details
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import Payload, Shown, shown_address
from attnviz.ui.view import Keyed, View


def tables(view: Keyed, at: str, name: str) -> None:
    """Draw the tables of the payload at the address `at`, for the current selection in `view`."""
    component("tables", view.key(name), {"at": at})


def chart_tables(view: View, name: str, shown: Shown, query: str = "{selection}", **parameters: str) -> None:
    """Draw the box with the numbers of the page's charts, the tables of the payload `name`, as `table_box` does."""
    table_box(view, gettext("The charts as tables"), "tables", name, shown, query, **parameters)


def table_box(
    view: View,
    title: str,
    key: str,
    name: str,
    shown: Shown | None = None,
    query: str = "{selection}",
    **parameters: str,
) -> None:
    """Draw a box with `title` and the tables of the payload `name`, made once it is open.

    They are of `view` and what else is `shown`, by default for the current selection; with an empty `query` they are
    the same at every step. A view that embeds its payloads has none: they would be nine tenths of it.
    """
    if embedding() is not None:
        return
    with details(title, view.key(key)):
        at = shown_address(name, {"view": view, **(shown or {})}, query, **parameters)
        tables(view, at, f"{key}_rows")


def tables_payload(named_tables: Iterable[tuple[str, pd.DataFrame]]) -> Payload:
    """Return the payload of named tables."""
    return {
        "tables": [_table(name, table) for name, table in named_tables],
        "none": gettext("No figure is drawn, so there is no table of numbers."),
    }


def _table(name: str, table: pd.DataFrame) -> Payload:
    columns = [str(table.index.name or ""), *map(str, table.columns)]
    texts = [True, *map(_is_text, table.dtypes)]
    rows = [[_cell(value) for value in row] for row in table.itertuples(name=None)]
    return {"name": name, "columns": columns, "rows": rows, "texts": texts}


def _is_text(dtype: Any) -> bool:
    """Return whether a column has texts, also "yes" and "no"."""
    return not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)


def _cell(value: Any) -> str:
    """Return the text of a cell in the current language: fractions with six digits, empty for a missing value."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return ""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, (int, float)):
        return format_number(value, ".6g" if isinstance(value, float) else "")
    return str(value)
