"""Draw the controls that change a step's attention or word, and compute what a change would do before it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
import orjson

from attnviz.analysis.labels import quote, quoted_name, shorten
from attnviz.analysis.numbers import percent
from attnviz.analysis.what_if_effects import probability_change_text, words_with_changes
from attnviz.errors import AttnvizError
from attnviz.languages import gettext, language
from attnviz.text import EOS, piece_name
from attnviz.trace import Record, Trace
from attnviz.trace.interventions import ENDLESS, ReplaceEnergies, ReplaceWeights, Temperature, impossible
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.components.chart import chart
from attnviz.ui.components.component import component
from attnviz.ui.embedding import embedding
from attnviz.ui.page_state.what_if_state import stored_what_ifs
from attnviz.ui.payloads import PayloadRequest, address, makes_payload, payload_address, shown_address
from attnviz.ui.resources import has_posterior, tokenizer_of
from attnviz.ui.step.what_if_panel import lenders, requested_intervention
from attnviz.ui.view import View

FOILS = 10
"""Number of likeliest alternatives that are offered."""

_REQUEST = "what_if"
"""Parameter of the payload's address: the what-if as the browser would request it, as JSON."""


def consequence_address(view: View) -> str | None:
    """Return the address of what a what-if of `view` would do; None where none can be made."""
    return None if view.translate_again is None else shown_address("consequence", {"view": view})


@makes_payload("consequence", needs_server=True)
def requested_consequence_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of what the requested what-if would do, or why it cannot be made."""
    try:
        return consequence_payload(request.view, orjson.loads(request.parameters.get(_REQUEST, "")))
    except orjson.JSONDecodeError:
        return {"probability": str(impossible()), "words": []}
    except AttnvizError as error:
        return {"probability": str(error), "words": []}


def consequence_payload(view: View, request: Any) -> dict[str, Any]:
    """Return what the requested what-if would do to the translation that `view` shows.

    `probability` says how likely the step's piece is before and after it, with the earlier pieces unchanged; `words` is
    the translation with what would change, empty where all words stay. Raise AttnvizError where the request is invalid.
    """
    fields = request if isinstance(request, Mapping) else {}
    intervention = requested_intervention(view, fields.get("intervention"))
    trace, step, translate = view.trace, intervention.step, view.translate_again
    if step is None or translate is None:
        raise impossible()
    other = translate(translator_arguments(trace, intervention, held=fields.get("held") is True))
    before, after = float(trace.probabilities[step]), _probability(other, trace, step)
    if after is None:
        after = float(translate(translator_arguments(trace, intervention, held=True)).probabilities[step])
    words = words_with_changes(other, trace) if other.target_ids != trace.target_ids else ()
    return {
        "probability": probability_change_text(trace.target_pieces[step], before, after),
        "words": [asdict(word) for word in words],
    }


def _probability(other: Trace, trace: Trace, step: int) -> float | None:
    """Return the probability in `other` of the piece that `trace` writes at 0-based `step`, after the same pieces.

    None where it is not among the likeliest pieces, which a trace records.
    """
    places = np.flatnonzero(other.top_ids[step] == trace.target_ids[step])
    return float(other.top_probabilities[step][places[0]]) if len(places) else None


def other_word(view: View, at: str) -> None:
    """Draw the choice of another word for the current step, from the payload at the address `at`."""
    component("other_word", key=view.key("other_word"), data={"at": at})


def foils_payload(trace: Trace, steps: Sequence[int]) -> dict[str, Any]:
    """Return the payload of the choices at each of `steps`."""
    return {
        "words": {
            "write": gettext("Write this instead"),
            "typed": gettext("or type a word"),
            "foils": gettext("Likeliest other pieces"),
            "then": gettext(
                "The choice “Then”, beside the weights, decides whether the decoder rewrites the rest of the "
                "translation or keeps it."
            )
            if trace.attends_once
            else gettext("The new word makes the decoder rewrite all later words."),
        },
        "offers": {
            str(step): {
                "instead": gettext("Instead of {name}:", name=quoted_name(trace.target_pieces[step])),
                "foils": _foils(trace, step),
            }
            for step in steps
        },
    }


def _foils(trace: Trace, step: int) -> list[dict[str, Any]]:
    likeliest = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    # PAD, UNK and BOS cannot be written.
    others = (one for one in likeliest if one[0] != trace.target_ids[step] and one[0] >= EOS)
    return [
        {"piece": index, "name": f"{shorten(piece_name(piece), 30)} · {percent(float(p))}"}
        for index, piece, p in islice(others, FOILS)
    ]


def weight_controls(view: View, at: str, models: Sequence[str]) -> None:
    """Draw the controls below the bars of the current step, from the payload at the address `at`.

    `models` are those whose attention can be borrowed.
    """
    problems = stored_what_ifs(view.id).problems
    payload = {"at": at, "models": list(models), "undo": view.number > 0, "problem": "\n".join(problems)}
    component("intervention_controls", key=view.key("weight_controls"), data=payload)


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


def _outdated() -> str:
    return gettext("Faded parts still show the step before the change.")


def _words() -> dict[str, str]:
    return {
        "hint": gettext(
            "Drag a bar, and the other bars adjust. On the keyboard, ← → move the selected bar, ↑ ↓ select another "
            "bar, and Enter applies the new weights. Selected piece: {name}."
        ),
        "outdated": _outdated(),
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
            "another step’s weights also gets that other step’s context vector, but keeps its own state and previous "
            "word. Write links as i-j: a source word and a target word, both counted from 0. If you borrow from "
            "another model, the other model first writes the translation shown (forced decoding). The current model "
            "then uses the weights of the other model."
        ),
    }


def can_be_changed(trace: Record) -> bool:
    """Return whether the app can translate the sentence of `trace` again: its model is installed."""
    host = embedding()
    return tokenizer_of(trace) is not None if host is None else host.changes


def slider_labels(trace: Record) -> dict[str, str] | None:
    """Return the labels of the weights' sliders, or None where bars cannot be dragged."""
    if not trace.attends_once or not can_be_changed(trace):
        return None
    return {
        "weight": gettext("weight of {name}"),
        "weights": gettext("Attention weights"),
        "keys": gettext("Left and right arrow: change the weight. Up and down arrow: go to another weight."),
        "uprightKeys": gettext("Up and down arrow: change the weight. Left and right arrow: go to another weight."),
        "outdated": _outdated(),
    }


def weights_chart(view: View, at: str, name: str) -> None:
    """Draw the figure `name` of the step's weights from the payload at `at`.

    Its bars can be dragged where `slider_labels`.
    """
    labels = slider_labels(view.trace)
    if labels and view.simple:
        labels["invitation"] = gettext("Drag a bar and watch the mixture change.")
        if view.number:
            labels["undo"] = gettext("Undo")
    chart(view, at, name, hand=labels, consequence=consequence_address(view) if labels else None)


def intervention_panel(view: View) -> None:
    """Draw the controls of the current step's attention, where it can be changed."""
    if slider_labels(view.trace) is not None:
        weight_controls(view, address(view.trace, "weight_controls", every=True), lenders(view.trace))


def other_word_panel(view: View) -> None:
    """Draw the choice of another word for the current step, if the model can write one."""
    if can_be_changed(view.trace):
        other_word(view, payload_address(view, "foils"))


@makes_payload("weight_controls", of_step=True)
def interventions_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the attention controls, for all steps."""
    return controls_payload(request.trace, has_posterior(request.trace))


@makes_payload("foils", of_step=True)
def other_words_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of other words at each requested step."""
    return foils_payload(request.trace, request.steps)
