"""What of a link could not be shown, said above what is shown instead."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.page_state.address import address_record
from attnviz.ui.page_state.link_problems import link_problems
from attnviz.ui.page_state.view import View


def link_told(view: View) -> None:
    """Say it in a container of its own, which is always there, so that nothing below is moved and drawn anew."""
    with st.container(key=view.key("link_problem")):
        session = st.session_state
        if problems := link_problems(session, address_record(session, view)["parameters"]):
            st.text("\n".join(problems))
