"""A part of the page that the server draws, and that follows what is on show once it is near the window."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import View


def follow(view: View, name: str) -> None:
    """Have the part `name` run again when another step, source piece or word is on show than now, as soon as the
    container of that key comes near the window."""
    record = {"selection": selection_of(st.session_state, view).name, "part": name, "container": view.key(name)}
    component("follower", isolate=False)(key=view.key(f"{name}_follower"), data=record, height=1)
