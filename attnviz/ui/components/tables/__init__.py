"""Mount data tables of the current selection, each with its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.languages import gettext
from attnviz.ui.components.component import component
from attnviz.ui.view import Keyed


def tables(view: Keyed, at: str, name: str) -> None:
    """Draw the tables of the payload at the address `at`, for the current selection in `view`."""
    component("tables", key=view.key(name), data={"at": at})


def tables_payload(named_tables: Iterable[tuple[str, pd.DataFrame]]) -> dict[str, Any]:
    """Return the payload of named tables."""
    return {
        "tables": [_table(name, table) for name, table in named_tables],
        "none": gettext("No figure is drawn, so there is no table of numbers."),
    }


def _table(name: str, table: pd.DataFrame) -> dict[str, Any]:
    columns = [str(table.index.name or ""), *map(str, table.columns)]
    texts = [True, *(not pd.api.types.is_numeric_dtype(table[column]) for column in table.columns)]
    rows = [
        [str(index), *map(_cell, row)]
        for index, row in zip(table.index, table.itertuples(index=False, name=None), strict=True)
    ]
    return {"name": name, "columns": columns, "rows": rows, "texts": texts}


def _cell(value: Any) -> str:
    """Return the text of a cell: numbers with six digits, empty for a missing value."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
