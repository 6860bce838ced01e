"""What of a link could not be shown, said above what is shown instead."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.link_told.link_told import link_sentences
from attnviz.ui.page_state.address import own_parameters, page_parameters
from attnviz.ui.page_state.link_problems import link_problems
from attnviz.ui.page_state.view import View


def link_told(view: View) -> None:
    """Say it in the container in use, which is there for it alone, and always, so that nothing below is drawn anew."""
    session = st.session_state
    if problems := link_problems(session, page_parameters(session) | own_parameters(session, view)):
        link_sentences(view, problems)
