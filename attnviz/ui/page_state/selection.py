"""What of a translation is on show: the step, the source piece, the word, the stage."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from attnviz.trace import Trace

State = MutableMapping[Any, Any]

STEP = "step"
SOURCE = "source"
"""The source piece j that a visitor chose, or None: then it is the one of the largest weight, step by step."""
WORD = "word"
"""Id of the piece whose logit is taken apart, or None: then it is the one the step chose."""
STAGE = "stage"
"""The stage a visitor went to, or None."""
SELECTED_OF = "selection_of"
STAGES = 5
SHOWN = "shown_translation"


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


def open_selection(state: State, identity: tuple[Any, ...], trace: Trace, linked: Mapping[str, str]) -> None:
    """Forget what was chosen in another translation; the first of a visit takes source, word and stage of its link."""
    if state.get(SELECTED_OF) == identity:
        return
    given = linked if SELECTED_OF not in state else {}
    state[SOURCE] = _number(given.get(SOURCE), len(trace.source_pieces))
    state[WORD] = _piece(given.get(WORD), trace)
    state[STAGE] = _number(given.get(STAGE), STAGES)
    state[SELECTED_OF] = identity


def choose(state: State, choice: Mapping[str, Any], trace: Trace) -> None:
    """Take over what a visitor chose in the browser: any of `step`, `source`, `word`, `stage`; None undoes a choice.

    A word belongs to its step: another step is shown with the word it chose itself.
    """
    if "step" in choice:
        before = state.get(STEP)
        go_to(state, int(choice["step"]), len(trace.target_pieces))
        if state[STEP] != before:
            forget_word(state)
    if "source" in choice:
        state[SOURCE] = _number(choice["source"], len(trace.source_pieces))
    if "word" in choice:
        state[WORD] = _piece(choice["word"], trace)
    if "stage" in choice:
        state[STAGE] = _number(choice["stage"], STAGES)


def source_of(state: Mapping[Any, Any], trace: Trace, step: int) -> int:
    """Return the source piece on show at 1-based `step`, from 1: the chosen one, or that of the largest weight."""
    chosen = state.get(SOURCE)
    return int(chosen) if chosen else int(np.argmax(trace.alignment[step - 1])) + 1


def forget_word(state: State) -> None:
    """Go back to the word that the step chose: another step is on show."""
    state[WORD] = None


def _number(value: Any, most: int, least: int = 1) -> int | None:
    """Return a number of a link or of the browser, or None where it is none or out of range."""
    text = str(value)
    if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
        return None
    return int(text)


def _piece(value: Any, trace: Trace) -> int | None:
    """Return the id of a piece of the vocabulary, or None where it is none."""
    return _number(value, trace.config["vocabulary_size"] - 1, least=0)
