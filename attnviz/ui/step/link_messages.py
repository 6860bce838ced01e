"""Draw messages about invalid values of a link, above the step view."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.link_messages.link_messages import link_sentences
from attnviz.ui.page_state.address import own_parameters, page_parameters
from attnviz.ui.page_state.link_problems import link_problems
from attnviz.ui.page_state.view import View


def link_messages(view: View) -> None:
    """Draw the messages into the current container, which always exists, so that nothing below it is mounted again."""
    session = st.session_state
    if problems := link_problems(session, page_parameters(session) | own_parameters(session, view)):
        link_sentences(view, problems)
