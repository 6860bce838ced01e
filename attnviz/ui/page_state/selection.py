"""What of a translation is on show: step, source piece, compared words, stage. Steps and pieces count from 0 here; only
the address, read by `linked_selection` and written by `selection_address`, counts from 1."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from attnviz.trace import Trace
from attnviz.ui.page_state.view import Session, View, view_key

STAGES = 5
LONGEST_TYPED = 80
"""Characters of a typed word that a link may carry."""
_SELECTION = "selection"


@dataclass(frozen=True)
class Selection:
    """What a visitor chose in a view; None where he left it to the step."""

    step: int = 0
    source: int | None = None
    """Source piece; None: the one of the largest weight, step by step."""
    word: int | None = None
    """Id of the piece whose logit is taken apart; None: the one the step chose."""
    rival: int | None = None
    """Id of the piece it is compared with; None: the likeliest other."""
    typed_word: str = ""
    """What was typed for `word`, of which that piece may be only the first."""
    typed_rival: str = ""
    stage: int | None = None
    """The stage gone to, by its number, 1 to 5."""

    @property
    def name(self) -> str:
        """What tells it from others that draw something else; the stage gone to draws nothing."""
        return json.dumps(astuple(replace(self, stage=None)))


def open_view(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Begin another translation at its first step; the first of a visit with the selection of its link."""
    kept = session.get(view.key(_SELECTION))
    if kept is None:
        session[view.key(_SELECTION)] = view.identity, linked_selection(view, linked)
    elif kept[0] != view.identity:
        session[view.key(_SELECTION)] = view.identity, Selection()


def carry_over(session: Session, view: View) -> None:
    """Show another translation of the same sentence at the step on show, or the last it has."""
    identity, selection = session.get(view.key(_SELECTION), (None, Selection()))
    if identity not in (None, view.identity):
        shown = at_step(selection, min(selection.step, view.steps - 1))
        session[view.key(_SELECTION)] = view.identity, shown


def forget_selection(session: Session, view_id: str) -> None:
    """Forget what was chosen in a view: another link is to be followed."""
    session.pop(view_key(view_id, _SELECTION), None)


def selection_of(session: Mapping[Any, Any], view: View) -> Selection:
    """Return what is on show in `view`."""
    identity, selection = session.get(view.key(_SELECTION), (None, Selection()))
    return selection if identity == view.identity else Selection()


def choose(session: Session, view: View, choice: Mapping[str, Any]) -> None:
    """Take over what a visitor chose: any of the fields of Selection, None undoing a choice; what there is not counts
    as None, and a step is the nearest there is.

    Words belong to their step: another step is shown with those it chose itself.
    """
    before, trace = selection_of(session, view), view.trace
    now = before
    if "step" in choice:
        now = at_step(now, min(max(int(choice["step"]), 0), view.steps - 1))
    if "source" in choice:
        now = replace(now, source=_number(choice["source"], len(trace.source_pieces)))
    if "word" in choice:
        now = replace(now, word=_piece(choice["word"], trace), typed_word=str(choice.get("typed_word", "")))
    if "rival" in choice:
        now = replace(now, rival=_piece(choice["rival"], trace), typed_rival=str(choice.get("typed_rival", "")))
    if "stage" in choice:
        now = replace(now, stage=_stage(choice["stage"]))
    session[view.key(_SELECTION)] = view.identity, now


def show_selection(session: Session, view: View, selection: Selection) -> None:
    """Show in `view` what was on show in it before."""
    session[view.key(_SELECTION)] = view.identity, selection


def at_step(selection: Selection, step: int) -> Selection:
    """Return the selection at `step`."""
    if step == selection.step:
        return selection
    return replace(selection, step=step, word=None, rival=None, typed_word="", typed_rival="")


def source_of(selection: Selection, trace: Trace) -> int:
    """Return the source piece on show: the chosen one, or that of the largest weight."""
    return int(np.argmax(trace.alignment[selection.step])) if selection.source is None else selection.source


def linked_selection(view: View, linked: Mapping[str, str]) -> Selection:
    """Return the selection of a link; what it names that is not there is not chosen."""
    trace, given = view.trace, {name: linked.get(view.key(name)) for name in _PARAMETERS}
    step = _number(given["step"], 10**6, first=1)
    word, rival = _piece(given["word"], trace), _piece(given["rival"], trace)
    return Selection(
        step=0 if step is None else min(step - 1, view.steps - 1),
        source=_from_one(given["source"], len(trace.source_pieces)),
        word=word,
        rival=rival,
        typed_word="" if word is None else (given["typed_word"] or "")[:LONGEST_TYPED],
        typed_rival="" if rival is None else (given["typed_rival"] or "")[:LONGEST_TYPED],
        stage=_stage(given["stage"]),
    )


def selection_address(view: View, selection: Selection) -> dict[str, str | None]:
    """Return the address parameters of a selection; None for what nobody chose, which stays out of the address."""
    written = {
        "step": selection.step + 1 if selection.step else None,
        "source": None if selection.source is None else selection.source + 1,
        "word": selection.word,
        "rival": selection.rival,
        "typed_word": None if selection.word is None else selection.typed_word[:LONGEST_TYPED] or None,
        "typed_rival": None if selection.rival is None else selection.typed_rival[:LONGEST_TYPED] or None,
        "stage": selection.stage,
    }
    return {view.key(name): None if value is None else str(value) for name, value in written.items()}


def selection_offered(view: View) -> dict[str, range]:
    """Return what each address parameter of a selection can be, but for what is typed."""
    vocabulary = range(view.trace.vocabulary_size)
    return {
        "step": range(1, view.steps + 1),
        "source": range(1, len(view.trace.source_pieces) + 1),
        "word": vocabulary,
        "rival": vocabulary,
        "stage": range(1, STAGES + 1),
    }


_PARAMETERS = ("step", "source", "word", "rival", "typed_word", "typed_rival", "stage")


def _number(value: Any, end: int, first: int = 0) -> int | None:
    """Return a number of a link or of the browser, at least `first` and below `end`, or None where it is none."""
    text = str(value)
    if not re.fullmatch("[0-9]{1,6}", text) or not first <= int(text) < end:
        return None
    return int(text)


def _from_one(value: Any, count: int) -> int | None:
    """Return the index of what a link counts from 1, of `count`."""
    number = _number(value, count + 1, first=1)
    return None if number is None else number - 1


def _stage(value: Any) -> int | None:
    return _number(value, STAGES + 1, first=1)


def _piece(value: Any, trace: Trace) -> int | None:
    """Return the id of a piece of the vocabulary, or None where it is none."""
    return _number(value, trace.vocabulary_size)
