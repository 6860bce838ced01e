"""The parts of the step room that run again by themselves, and what has several of them run at once."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from attnviz.ui.page_state.view import View

TRANSPORT = "transport"
"""The slider, and what goes between browser and server."""
LEDGER = "ledger_part"
"""The logit ledger with the choice of its words."""


def run_again(view: View, *parts: str) -> NoReturn:
    """Have these parts run after a choice, and no others; for use in the callback of a widget in one of them."""
    st.rerun([view.key(part) for part in parts])
