"""Mount the controls that change or borrow the attention of a step, or set the temperature of all steps.

They move all attention to a piece, take it away or make it uniform, set the softmax temperature, or borrow weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.languages import gettext, language
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.interventions import ENDLESS, ReplaceEnergies, ReplaceWeights, Temperature
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View
from attnviz.ui.page_state.what_ifs import stored_what_ifs
from attnviz.wording.labels import quote, shorten


def weight_controls(view: View, at: str, models: Sequence[str]) -> None:
    """Draw the controls below the bars of the current step, from the payload at the address `at`.

    `models` are those whose attention can be borrowed.
    """
    problems = stored_what_ifs(st.session_state, view.id).problems
    payload = {"at": at, "models": list(models), "undo": view.number > 0, "problem": "\n".join(problems)}
    component("intervention_controls", isolate=False)(key=view.key("weight_controls"), data=payload)


def controls_payload(trace: Trace, posterior: bool) -> dict[str, Any]:
    """Return the payload of the controls; `posterior` says whether weights can be borrowed from posterior attention."""
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
    """Return the last temperature of 0-based `step` alone, or for None that of all steps, JSON-serialisable."""
    changes = [one for one in trace.interventions if isinstance(one, Temperature) and one.step == step]
    temperature = changes[-1].temperature if changes else 1.0
    return ENDLESS if temperature == math.inf else temperature


def _is_set(trace: Trace, step: int) -> bool:
    """Return whether interventions have replaced the weights or energies of 0-based `step`."""
    return any(
        isinstance(one, (ReplaceWeights, ReplaceEnergies)) and one.step in (None, step) for one in trace.interventions
    )


def _words() -> dict[str, str]:
    return {
        "hint": gettext(
            "Drag a bar, and the other bars adjust. On the keyboard, ← → move the selected bar, ↑ ↓ select another, "
            "and Enter applies the new weights. Selected piece: {name}."
        ),
        "only": gettext("Look only here"),
        "without": gettext("Anywhere but here"),
        "alike": gettext("Uniform"),
        "undo": gettext("Undo"),
        "then": gettext("Then"),
        "anew": gettext("rewrite the rest"),
        "held": gettext("keep the translation"),
        "temperature": gettext("Temperature"),
        "hard": gettext("hardest"),
        "flat": gettext("uniform"),
        "every": gettext("all steps"),
        "borrow": gettext("Borrow attention"),
        "lender": gettext("Whose attention"),
        "step": gettext("Step"),
        "links": gettext("Word links"),
        "take": gettext("Borrow it"),
        "ofStep": gettext("of another step"),
        "ofPosterior": gettext("of this step, after the word"),
        "ofLinks": gettext("of word links"),
        "ofModel": gettext("of the model {name}"),
        "note": gettext(
            "The annotations do not change, so the weights alone decide the context vector. A step that borrows "
            "another step’s weights also gets that other step’s context vector, but keeps its own state and "
            "previous word. Write links as i-j: a source word and a target word, both counted from 0. If you "
            "borrow from another model, that model writes the translation shown (forced decoding), and this "
            "model uses the weights of that model."
        ),
    }
