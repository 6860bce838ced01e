"""What the page remembers of a visitor, and how each click or key changes it.

Steps are counted from 1 here, as in the URL and the equations. Every function works on a plain mapping, so that it can
be tested without a browser; the page passes `st.session_state`.
"""

from __future__ import annotations

import re
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


def open_translation(state: State, identity: tuple[Any, ...], count: int, linked: str | None = None) -> None:
    """Begin another translation at its first step; the first of a visit at the step its link names, if that is one."""
    if SHOWN not in state:
        go_to(state, int(linked or 1) if re.fullmatch("[0-9]{1,6}", linked or "") else 1, count)
    elif state[SHOWN] != identity:
        go_to(state, 1, count)
    state[SHOWN] = identity


def take_example(state: State, sentence: str) -> None:
    """Put an example in the sentence box; a translation given for another sentence goes."""
    state[SENTENCE] = sentence
    drop_target(state)


def drop_target(state: State) -> None:
    """Forget the translation that a visitor gave: it was one of the sentence before, or is no longer wanted."""
    state[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
