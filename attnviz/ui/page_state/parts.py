"""The parts of a step room that run again by themselves, each a fragment of its own, and what has them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attnviz.ui.page_state.view import View

TRANSPORT = "transport"
"""The slider, and what goes between browser and server."""
INSIDE_WORD = "inside_word"
"""The logit ledger with the choice of its words."""
MICROSCOPE_TABLE = "microscope_table"
TABLES = "tables"
FOLLOWING = frozenset({INSIDE_WORD, MICROSCOPE_TABLE, TABLES})
"""What the server draws of a step: it follows once it is near the window."""


def part(view: View, name: str, draw: Callable[..., None]) -> Callable[..., None]:
    """Return `draw` as the part of `view` that is called `name`."""
    return st.fragment(draw, key=view.key(f"part_{name}"))


def run_again(view: View, names: Iterable[str]) -> None:
    """Have these parts run after the callback of a widget that calls this, and no others.

    By name, because the browser may tell of several widgets at once, and the page would run but the part of one.
    """
    try:
        st.rerun([view.key(f"part_{name}") for name in names])
    except StreamlitAPIException:  # one of them has gone from the page meanwhile: all of it runs
        return
