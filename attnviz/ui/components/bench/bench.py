"""What can be tried on the look of a step: only here, anywhere but here, everywhere alike, hotter, colder, borrowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.languages import language, say
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.interventions import ENDLESS, ReplaceEnergies, ReplaceWeights, Temperature
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.branches import tried_in
from attnviz.ui.page_state.view import View
from attnviz.wording.labels import quote, shorten


def bench(view: View, at: str, models: Sequence[str]) -> None:
    """Draw the bench below the bars of the step on show; what it is drawn from lies at the address `at`, and of the
    `models` a look can be borrowed."""
    problems = tried_in(st.session_state, view.id).problems
    record = {"at": at, "models": list(models), "undo": view.number > 0, "problem": "\n".join(problems)}
    component("bench", isolate=False)(key=view.key("bench"), data=record)


def bench_record(trace: Trace, posterior: bool) -> dict[str, Any]:
    """Return what the browser draws the bench from; `posterior` says whether that is known."""
    steps = range(len(trace.target_pieces))
    return {
        "language": language(),
        "pieces": [quote(shorten(piece_name(piece), 30)) for piece in trace.source_pieces],
        "written": [shorten(piece_name(piece), 30) for piece in trace.target_pieces],
        "temperatures": [_temperature(trace, step) for step in steps],
        "temperature": _temperature(trace, None),
        "set": [_is_set(trace, step) for step in steps],
        "posterior": posterior,
        "words": _words(),
    }


def _temperature(trace: Trace, step: int | None) -> float | str:
    """Return what the energies of 0-based `step` alone, or for None those of all, were divided by last, as JSON holds
    it."""
    found = [one for one in trace.interventions if isinstance(one, Temperature) and one.step == step]
    temperature = found[-1].temperature if found else 1.0
    return ENDLESS if temperature == math.inf else temperature


def _is_set(trace: Trace, step: int) -> bool:
    """Return whether the weights of 0-based `step` no longer come from its energies."""
    return any(isinstance(one, (ReplaceWeights, ReplaceEnergies)) and one.step in (None, step)
               for one in trace.interventions)  # fmt: skip


def _words() -> dict[str, str]:
    return {
        "hint": say("Pull a bar, and the others follow; with the keyboard ↑ ↓, then Enter. Here: {name}."),
        "only": say("Look only here"), "without": say("Anywhere but here"), "alike": say("Everywhere alike"),
        "undo": say("Undo"), "then": say("Then"), "anew": say("write the rest anew"),
        "held": say("hold the translation"), "temperature": say("Temperature"), "hard": say("hardest"),
        "flat": say("all alike"), "every": say("all steps"), "borrow": say("Borrow a look"),
        "lender": say("Whose look"), "step": say("Step"), "links": say("Word links"), "take": say("Borrow it"),
        "ofStep": say("of another step"), "ofPosterior": say("of this step after the word"),
        "ofLinks": say("of word links"), "ofModel": say("of the model {name}"),
        "note": say(
            "The annotations stay as they are, so that where a step looks decides what it gets: with another step’s "
            "weights it has that step’s context vector, and there is no other context to swap. What stays its own is "
            "its state and the word before. Links are i-j, a source word and a target word, both counted from 0; "
            "another model is led through this translation."
        ),
    }  # fmt: skip
