"""Handle the browser's requests for changes by hand: a new what-if, another one to show, or undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from attnviz import AttnvizError
from attnviz.languages import gettext
from attnviz.text import UNK
from attnviz.trace import WhatIf
from attnviz.trace.changes import (
    LONGEST_LENDER,
    Change,
    LookAlike,
    LookAway,
    LookOnly,
    SetTemperature,
    SetWeights,
    TakeHypothesis,
    WriteWords,
    replaced_by,
    shares_of,
)
from attnviz.trace.interventions import Temperature, from_json
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.page_state.what_ifs import add, remove, show, tell, undo
from attnviz.ui.resources import tokenizer_of
from attnviz.ui.step.borrowed_weights import borrowed_row

LONGEST_TYPED = 80
"""Largest length of a word that is typed for another, in characters."""


def is_about(view: View, asked: Any) -> bool:
    """Return whether a request of a browser, which may be anything, belongs to `view` or one of its what-ifs."""
    return isinstance(asked, Mapping) and _about(view, asked) is not None


def _about(view: View, asked: Mapping[str, Any]) -> View | None:
    """Return the view that was shown when the request was made; by now another what-if may be shown."""
    if asked.get("view") != view.id or not isinstance(asked.get("what_if"), Mapping):
        return None
    tried = view.what_ifs
    known = {number: tried.trace(number) for number in range(len(tried.what_ifs) + 1)} if tried else {}
    known[view.number] = view.trace
    found = (number for number, trace in known.items() if trace.fingerprint == asked.get("identity"))
    number = next(found, None)
    return None if number is None else replace(view, trace=known[number], number=number)


def take_up(session: Session, on_show: View, request: Mapping[str, Any]) -> None:
    """Handle a `request` that `is_about` the view `on_show`, or store a sentence about why it fails.

    It has a `kind`, the arguments of that kind, and `held` where the translation is to stay as it is. Steps and pieces
    count from 0.
    """
    view, asked = _about(on_show, request), request["what_if"]
    if view is None:
        return
    try:
        match asked.get("kind"):
            case "undo":
                undo(session, view.id)
            case "what_if":
                show(session, view.id, int(asked["index"]))
            case "remove":
                remove(session, view.id, int(asked["index"]))
            case _:
                change = asked_change(view, asked)
                if not _is_as_it_was(view, change):
                    add(session, view.id, WhatIf(view.number, change, asked.get("held") is True))
    except AttnvizError as error:
        tell(session, view.id, str(error))
    except (KeyError, TypeError, ValueError, IndexError):
        tell(session, view.id, gettext("This change to the translation is not possible."))


def asked_change(view: View, asked: Mapping[str, Any]) -> Change:
    """Return the requested change; raise AttnvizError or a built-in exception where it is invalid."""
    kind, step = asked["kind"], cast("int", asked.get("step"))
    match kind:
        case "weights":
            return SetWeights(step, shares_of(asked["weights"]))
        case "only":
            return LookOnly(step, asked["source"])
        case "without":
            return LookAway(step, asked["source"])
        case "alike":
            return LookAlike(step)
        case "temperature":
            return SetTemperature(from_json(asked)["temperature"], step)
        case "words":
            return WriteWords(step, tuple(asked["pieces"]))
        case "typed":
            return _typed(view, step, str(asked["text"]))
        case "hypothesis":
            return TakeHypothesis(tuple(asked["pieces"]))
        case "borrowed":
            row = shares_of(borrowed_row(view.trace, step, asked))
            whose = str(asked["of"])[:LONGEST_LENDER] if asked["from"] in ("step", "model") else ""
            return SetWeights(step, row, asked["from"], whose)
    raise KeyError(kind)


def _typed(view: View, step: int, text: str) -> WriteWords:
    """Return the change that writes a typed word at `step` instead of the rest of the word there."""
    tokenizer = tokenizer_of(view.trace)
    if tokenizer is None:
        raise AttnvizError(gettext("You can type a word only if the model that made this translation is installed."))
    if len(text) > LONGEST_TYPED:
        raise AttnvizError(gettext("A typed word can have at most {most} characters.", most=LONGEST_TYPED))
    pieces = tokenizer.encode(text)
    if not pieces:
        raise AttnvizError(gettext("Type the word that this step should write."))
    if UNK in pieces:
        unseen = "  ".join(tokenizer.unknown_characters(text)[:20])
        raise AttnvizError(gettext("The model has never seen {listed}, and cannot write it.", listed=unseen))
    return WriteWords(step, tuple(pieces), replaced_by(view.trace, step))


def _is_as_it_was(view: View, change: Change) -> bool:
    """Return whether a change has no effect: for example, a bar was released where it was."""
    if isinstance(change, SetTemperature):
        set_by_hand = [one for one in view.trace.interventions if isinstance(one, Temperature)]
        return change.temperature == 1 and all(one.step != change.step for one in set_by_hand)
    if isinstance(change, WriteWords):
        written = tuple(view.trace.target_ids)[change.step : change.step + change.replaced]
        return tuple(change.pieces) == written
    if not isinstance(change, SetWeights) or change.step >= view.steps:
        return False
    return change.shares == shares_of(view.trace.alignment[change.step])
