"""The page *How it learns*: where a model looks at moments of its training, and what it has learnt by then."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.languages import gettext
from attnviz.ui.learns.choices import forget_choices, open_choices, trainings
from attnviz.ui.learns.room import learns_room
from attnviz.ui.page_state import address


def page() -> StreamlitPage:
    """Return the page as the navigation knows it."""
    return st.Page(_draw, title=gettext("How it learns"), url_path="learns")


def offered() -> bool:
    """Return whether there is a training to show: without one no way leads to the page."""
    return bool(trainings())


def _draw() -> None:
    if address.went_through_history():
        forget_choices()
    open_choices()
    learns_room()
