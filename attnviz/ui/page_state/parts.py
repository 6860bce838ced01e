"""The parts of a step room that run again by themselves, each a fragment of its own, and what has them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

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
    """Have these parts run after the callback of a widget in one of them that calls this, and no others; but all of the
    page where the browser tells of more than that.

    Streamlit would let the names take the place of whatever else it was to run, unless a callback objects: not even the
    switch of languages has one.
    """
    context = get_script_run_ctx()
    if context is None or not context.fragment_ids_this_run:  # all of the page runs as it is
        return
    if leaving():
        return
    if tells_of_more():
        st.rerun()
    try:
        st.rerun([view.key(f"part_{name}") for name in names])
    except StreamlitAPIException:  # one of them has gone from the page meanwhile: all of it runs
        return


def leaving() -> bool:
    """Return whether another page is asked for while this one runs, or Back or Forward within it; for use in callbacks.

    What a callback has run is what Streamlit hears last: it would come back to the page that asked for it, or no longer
    know that the address says what is to be shown.
    """
    context = get_script_run_ctx()
    requests = context.script_requests if context else None
    if context is None or requests is None or requests._state is not ScriptRequestType.RERUN:
        return False
    waiting = requests._rerun_data
    return waiting.is_history_navigation or waiting.page_script_hash not in ("", context.page_script_hash)


def tells_of_more() -> bool:
    """Return whether the browser tells of widgets in more than one part of the page, what is in none being one as well;
    for use in callbacks.

    What this run was asked for does not say: of what changes within one tick Streamlit's browser program tells in one
    message, which names the part of the first widget that is in one. The others are told of, but not named.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    state = context.session_state._state
    told = state._new_widget_state
    changed = {
        told.widget_metadata[widget].fragment_id
        for widget in told
        if widget in told.widget_metadata and state._widget_changed(widget)
    }
    return len(changed.union(context.fragment_ids_this_run or ())) > 1
