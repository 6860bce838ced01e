"""Draw a box with tables of the current selection, which the browser fetches once the box is open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.page_state.view import View
from attnviz.ui.session_payloads import register_payload

NamedTable = tuple[str, pd.DataFrame]
"""A table with its name."""


def table_box(view: View, title: str, key: str, name: str, make: Callable[[Selection], Iterable[NamedTable]]) -> None:
    """Draw a box with `title` and the tables that `make` returns for the current selection, made once it is open.

    `name` identifies the data that they are made from.
    """

    def make_payload(selection: Selection) -> dict[str, Any]:
        return tables_payload(make(selection))

    with st.expander(title, key=view.key(key)):
        tables(view, register_payload(view, key, name, make_payload), f"{key}_rows")
