"""Draw the choice of two words of the English sentence and the button that swaps them; store it in the address."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.requests import request_button
from attnviz.wording.labels import shorten

SWAP = "swap"
"""Name of the choice in session state and address: the words' numbers from 1, such as "2.5"; none while unswapped."""
_FIRST_WORD, _SECOND_WORD = "swap_one", "swap_other"


def chosen_swap(sentence: str) -> tuple[int, int] | None:
    """Return the 0-based indices of the two swapped words; None while unswapped."""
    return _parse_swap(st.session_state.get(SWAP), len(sentence.split()))


def choose_swap(sentence: str) -> tuple[int, int] | None:
    """Draw the choice of two words and the button that swaps them; return `chosen_swap`."""
    words, chosen = sentence.split(), chosen_swap(sentence)
    if len(words) < 2:
        return None
    defaults = chosen or (min(1, len(words) - 2), max(len(words) - 2, min(1, len(words) - 2) + 1))
    with st.container(horizontal=True, vertical_alignment="bottom", key="swap_words"):
        indices = [
            st.selectbox(
                label,
                list(range(len(words))),
                default,
                key=f"{key}_{len(words)}",
                disabled=chosen is not None,
                format_func=lambda k: f"{k + 1} {shorten(words[k], 24)}" if k < len(words) else "",
                width=220,
            )
            for key, default, label in zip(
                (_FIRST_WORD, _SECOND_WORD), defaults, (gettext("This word"), gettext("and this one")), strict=True
            )
        ]
        label = gettext("Undo the swap") if chosen else gettext("Swap them")
        request_button(
            label,
            partial(_store_swap, None if chosen else indices),
            key="swap_button",
            type="primary",
            disabled=indices[0] == indices[1],
        )
    return chosen


def _store_swap(indices: list[int] | None) -> None:
    st.session_state[SWAP] = None if indices is None else ".".join(str(index + 1) for index in sorted(indices))


def _parse_swap(value: object, count: int) -> tuple[int, int] | None:
    """Return the word indices in a value of `SWAP`, None if it is invalid for `count` words."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", str(value))
    if not match:
        return None
    first, second = (int(text) - 1 for text in match.groups())
    return (first, second) if 0 <= first < second < count else None
