"""What the page remembers of a visitor, and how each click or key changes it.

Steps are counted from 1 here, as in the URL and the equations. Every function works on a plain mapping, so that it can
be tested without a browser; the page passes `st.session_state`.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

State = MutableMapping[Any, Any]

STEP = "step"
SHOWN = "shown_translation"
SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"


def go_to(state: State, step: int, count: int) -> None:
    """Show `step`, or the nearest there is of `count` steps."""
    state[STEP] = min(max(step, 1), count)


def open_translation(state: State, identity: tuple[Any, ...], count: int) -> None:
    """Begin a translation at its first step; keep the step where it was only re-opened (a reload, a link)."""
    if state.get(SHOWN, identity) != identity:
        state[STEP] = 1
    elif STEP in state:
        go_to(state, state[STEP], count)
    state[SHOWN] = identity


def take_example(state: State, sentence: str) -> None:
    """Put an example in the sentence box; a translation given for another sentence goes."""
    state[SENTENCE] = sentence
    state[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
