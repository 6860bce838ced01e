"""Choose two words of the English sentence and swap them by a button; the choice is in the address."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.requests import request_button
from attnviz.wording.labels import shorten

SWAP = "swap"
"""Name of the choice in session state and address: the words' places from 1, such as "2.5"; none while unswapped."""
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
        places = [
            st.selectbox(
                label,
                list(range(len(words))),
                place,
                key=f"{key}_{len(words)}",
                disabled=chosen is not None,
                format_func=lambda k: f"{k + 1} {shorten(words[k], 24)}" if k < len(words) else "",
                width=220,
            )
            for key, place, label in zip(
                (_FIRST_WORD, _SECOND_WORD), defaults, (gettext("This word"), gettext("and this one")), strict=True
            )
        ]
        label = gettext("Undo the swap") if chosen else gettext("Swap them")
        request_button(
            label,
            partial(_store_swap, None if chosen else places),
            key="swap_button",
            type="primary",
            disabled=places[0] == places[1],
        )
    return chosen


def _store_swap(places: list[int] | None) -> None:
    st.session_state[SWAP] = None if places is None else ".".join(str(place + 1) for place in sorted(places))


def _parse_swap(value: object, count: int) -> tuple[int, int] | None:
    """Return the indices that a link or the session state has, None where they are invalid."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", str(value))
    if not match:
        return None
    first, second = (int(text) - 1 for text in match.groups())
    return (first, second) if 0 <= first < second < count else None
