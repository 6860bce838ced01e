"""What the page remembers of a visitor, and how each click or key changes it.

Steps are counted from 1 here, as in the URL and the equations. Every function works on a plain mapping, so that it can
be tested without a browser; the page passes `st.session_state`.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

State = MutableMapping[Any, Any]

STEP = "step"
PLAYING = "playing"
SHOWN = "shown_translation"
SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"


def go_to(state: State, step: int, count: int) -> None:
    """Show `step`, or the nearest there is of `count` steps."""
    state[STEP] = min(max(step, 1), count)


def move(state: State, by: int, count: int) -> None:
    """Show the step `by` after the one on show (before it, where negative); playing stops."""
    state[PLAYING] = False
    go_to(state, state.get(STEP, 1) + by, count)


def toggle_play(state: State, count: int) -> None:
    """Start or stop playing; at the last step, start over."""
    state[PLAYING] = not state.get(PLAYING, False)
    if state[PLAYING] and state.get(STEP, 1) >= count:
        go_to(state, 1, count)


def tick(state: State, count: int) -> None:
    """Advance one step while playing, and stop at the last."""
    if not state.get(PLAYING, False):
        return
    go_to(state, state.get(STEP, 1) + 1, count)
    state[PLAYING] = state[STEP] < count


def click_cell(state: State, selection: Mapping[str, Any], count: int) -> None:
    """Show the step of the cell clicked in the heatmap; an emptied selection changes nothing."""
    points = selection.get("selection", {}).get("points", [])
    custom = points[0].get("customdata") if points else None
    if custom:
        state[PLAYING] = False
        go_to(state, int(custom[0]) + 1, count)


def open_translation(state: State, identity: tuple[Any, ...], count: int) -> None:
    """Begin a translation at its first step; keep the step where it was only re-opened (a reload, a link)."""
    if state.get(SHOWN, identity) != identity:
        state[STEP] = 1
        state[PLAYING] = False
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
