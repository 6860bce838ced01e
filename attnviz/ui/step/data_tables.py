"""Draw tables that follow the current step, which the browser fetches while their box is open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.ui.components.tables.tables import tables, tables_payload
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.page_state.view import View
from attnviz.ui.session_payloads import payload

Named = tuple[str, pd.DataFrame]
"""A table with its name."""


def table_box(view: View, title: str, key: str, name: str, make: Callable[[Selection], Iterable[Named]]) -> None:
    """Draw a box with `title` and the tables that `make` returns for the current selection, computed while it is open.

    `name` identifies the data that they are made of.
    """
    box = st.expander(title, key=view.key(key), on_change="rerun")
    if not box.open:
        return

    def make_payload(selection: Selection) -> dict[str, Any]:
        return tables_payload(make(selection))

    with box:
        tables(view, payload(view, key, name, make_payload), f"{key}_rows")
