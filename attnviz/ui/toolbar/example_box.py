"""Draw the box of example sentences, grouped by what they show."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.page_state import inputs
from attnviz.ui.requests import request_button
from attnviz.ui.toolbar.examples import EXAMPLES, kind_name

WIDTH = 620
"""Width of the box in pixels; a narrower window shrinks it."""
_CHOICES_COUNT = "examples_taken"


def example_box() -> None:
    """Draw the box; choosing a sentence translates it and closes the box."""
    count = st.session_state.get(_CHOICES_COUNT, 0)  # a new key after each choice closes the popover
    with (
        st.container(key="examples", width="content"),
        st.popover(gettext("Examples"), type="tertiary", key=f"examples_{count}", width="content"),
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
    st.session_state[_CHOICES_COUNT] = st.session_state.get(_CHOICES_COUNT, 0) + 1
