"""Draw the box of example sentences, grouped by what they show."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.examples import EXAMPLES, kind_name
from attnviz.ui.page_state import inputs
from attnviz.ui.popover import close_popover, popover
from attnviz.ui.requests import request_button

WIDTH = 620
"""Width of the box in pixels; a narrower window shrinks it."""
_BOX = "examples"


def example_box() -> None:
    """Draw the box; choosing a sentence translates it and closes the box."""
    with (
        popover(gettext("Examples"), key=_BOX, type="tertiary", width="content"),
        st.container(key="example_list", width=WIDTH, gap=None),
    ):
        for kind, sentences in EXAMPLES.items():
            st.html(f'<p class="kind">{kind_name(kind)}</p>')
            for position, sentence in enumerate(sentences):
                key = f"example_{list(EXAMPLES).index(kind)}_{position}"
                request_button(
                    sentence, partial(_choose_example, sentence), type="tertiary", key=key, width="stretch", wrap=True
                )


def _choose_example(sentence: str) -> None:
    inputs.set_request(st.session_state, sentence)
    close_popover(_BOX)
