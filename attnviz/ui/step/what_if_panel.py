"""What-ifs: handle requests about them, compute their traces, and draw the controls and what changed at a step.

The controls change a step's attention or word; before a change is made, the browser fetches what it would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from attnviz.analysis.labels import percent, quote, quoted_name, shorten
from attnviz.analysis.what_if_effects import (
    change_sentence,
    foils_of,
    probability_change_text,
    recorded_pieces,
    weights_from_links,
    weights_from_trace,
    words_with_changes,
)
from attnviz.errors import AttnvizError, user_error
from attnviz.figures.registry import CHANGED
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, gettexts, language
from attnviz.text import EOS, UNK, piece_name
from attnviz.trace import Record, Trace, WhatIf, WhatIfs
from attnviz.trace.interventions import (
    ENDLESS,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    from_json_dict,
    impossible,
)
from attnviz.trace.what_ifs import (
    StoredWhatIfs,
    TranslatorArguments,
    left_out_sentence,
    replaced_by,
    translator_arguments,
    whole_weights,
)
from attnviz.trace.word_link_text import parse_links
from attnviz.ui.blocks import chart, component, figure_payload
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.examples import first_step
from attnviz.ui.payloads import (
    Payload,
    PayloadRequest,
    UnknownPayloadError,
    address,
    all_at_once,
    makes_payload,
    payload_address,
    shown_address,
)
from attnviz.ui.resources import cached_posterior, devices, has_posterior, model_configs, tokenizer_of, translate
from attnviz.ui.selection import WHAT_IFS, open_what_ifs, stored_what_ifs, with_chosen_heads
from attnviz.ui.view import MAIN, View

_LONGEST_TYPED = 80
"""Largest length of a word that is typed for another, in characters."""


def _requested_view(view: View, request: Any) -> View | None:
    """Return the view for which the browser made a request, which may be anything; another what-if may be current now.

    None where it is about neither `view` nor one of its what-ifs.
    """
    if not isinstance(request, Mapping) or not isinstance(request.get("what_if"), Mapping):
        return None
    every = dict(enumerate((view.what_ifs.first, *view.what_ifs.traces))) if view.what_ifs else {}
    for number, trace in (every | {view.number: view.trace}).items():
        if trace.fingerprint == request.get("identity"):
            return replace(view, trace=trace, number=number)
    return None


def handle_what_if(current: View, request: Any) -> None:
    """Handle a browser's `request` about the view `current` or one of its what-ifs; ignore any other.

    Its `what_if` has an `intervention`, which `requested_intervention` reads, and `held` if the translation stays the
    same; or it has a `kind`: "undo", "what_if" or "remove". Where it fails, an error message is stored.
    """
    view, stored = _requested_view(current, request), stored_what_ifs(current.id)
    if view is None:
        return
    try:
        changed = _changed(stored, view, request["what_if"])
    except (AttnvizError, KeyError, TypeError, ValueError) as error:
        problem = error if isinstance(error, AttnvizError) else impossible()
        changed = replace(stored, problems=(str(problem),))
    page_session()[view.key(WHAT_IFS)] = changed


def _changed(stored: StoredWhatIfs, view: View, payload: Mapping[str, Any]) -> StoredWhatIfs:
    """Return the what-ifs after a request."""
    match payload.get("kind"):
        case "undo":
            return stored.undoing()
        case "what_if":
            return stored.showing(int(payload["index"]))
        case "remove":
            return stored.removing(int(payload["index"]))
    intervention = requested_intervention(view, payload.get("intervention"))
    held = payload.get("held") is True
    if _has_no_effect(view.trace, intervention, held=held):
        return stored
    return stored.adding(WhatIf(view.number, intervention, held))


def requested_intervention(view: View, payload: object) -> Intervention:
    """Return the intervention that a browser requests; raise AttnvizError where it is invalid.

    It is the intervention's JSON, or one of two others: "typed" is a word as `text` at `step`, and "borrowed" has the
    `lender` of the weights of `step`. Weights set by hand are rounded to whole numbers.
    """
    match payload:
        case {"kind": "typed", "step": int(step), "text": str(text)} if step in range(view.steps):
            return _write_typed_word(view, step, text)
        case {"kind": "borrowed", "step": int(step), "lender": str(lender), "of": str(of)} if step in range(view.steps):
            row = borrowed_row(view.trace, step, lender, of)
            return ReplaceWeights(whole_weights(row), step, lender, of if lender in ("step", "model") else "")
    intervention = from_json_dict(payload)
    if isinstance(intervention, ReplaceWeights) and intervention.by_hand:
        return replace(intervention, weights=whole_weights(intervention.weights))
    return intervention


def _write_typed_word(view: View, step: int, text: str) -> ForceWords:
    """Return the intervention that writes a typed word at `step` instead of the rest of the word there."""
    if (tokenizer := tokenizer_of(view.trace)) is None:
        raise user_error("You can type a word only if the model that made this translation is installed.")
    if len(text) > _LONGEST_TYPED:
        raise user_error("A typed word can have at most {most} characters.", most=_LONGEST_TYPED)
    pieces = tokenizer.encode(text)
    if not pieces:
        raise user_error("Type the word that this step should write.")
    if UNK in pieces:
        unseen = "  ".join(tokenizer.unknown_characters(text)[:20])
        raise user_error("The model has never seen {listed}, so it cannot write this word.", listed=unseen)
    return ForceWords(tuple(pieces), step, replaced_by(view.trace, step))


def _has_no_effect(trace: Trace, intervention: Intervention, *, held: bool) -> bool:
    """Return whether an intervention changes nothing: a bar is released at its old place, a button pressed again."""
    step, target = intervention.step, tuple(trace.target_ids)
    match intervention:
        case Temperature(temperature=1):
            idle = not any(intervention.undoes(one) for one in trace.interventions)
        case ForceWords(pieces=pieces, replaced=replaced):
            idle = pieces == target[intervention.step :][:replaced]
        case ReplaceWeights(weights=weights):
            idle = step in range(len(target)) and weights == whole_weights(trace.alignment[step])
        case _:
            idle = False
    made = TranslatorArguments(trace.interventions, target if trace.search.method == "forced" else None)
    return idle or translator_arguments(trace, intervention, held=held) == made


def lenders(trace: Trace) -> list[str]:
    """Return the names of the other models with attention, whose weights a step of `trace` can borrow."""
    configs = model_configs().items()
    return [name for name, config in configs if name != trace.model and config.get("attention") != "none"]


def borrowed_row(trace: Trace, step: int, lender: str, of: str) -> NDArray[np.float64]:
    """Return the weights (Tx,), at least 0, with sum 1, that 0-based `step` of `trace` borrows from a `lender`.

    `of` says which one: for "step" its number from 0; for "links" word links as text, source and target words counted
    from 0; for "model" its name, and it force-decodes the same translation. "posterior" needs none. Raise AttnvizError
    if there are no such weights.
    """
    match lender:
        case "step":
            if of not in map(str, range(len(trace.target_ids))):
                raise user_error("The step whose weights you want to borrow does not exist.")
            return np.asarray(trace.alignment[int(of)], np.float64)
        case "posterior":
            if (posterior := cached_posterior(trace)) is None:
                raise user_error(
                    "Posterior attention cannot be computed: the model that made this translation is not installed."
                )
            return np.asarray(posterior[step], np.float64)
        case "links":
            return weights_from_links(trace, step, parse_links(of).all)
        case "model" if of in lenders(trace):
            device = trace.device if trace.device in devices() else "auto"  # a file may come from another machine
            other = translate(of, device, trace.source_text, 1, trace.translation)
            return weights_from_trace(trace, step, other)
    raise user_error("No installed model with attention has the requested name.")


def current_view(first: Trace, make: Callable[[TranslatorArguments], Trace], saved: WhatIfs | None = None) -> View:
    """Return the page's own view, of the current what-if of `first`, or of `first` itself.

    `make` computes them; those that were `saved` need no model. What-ifs that fail are left out, and `stored_what_ifs`
    has the errors.
    """
    same_original = open_what_ifs(first, saved.what_ifs if saved else None)
    what_ifs = _computed_what_ifs(first, make, saved, same_original=same_original)
    number = stored_what_ifs(MAIN).current
    trace = with_chosen_heads(what_ifs.trace(number))
    return View(MAIN, trace, what_ifs, number, first_step=first_step(trace), translate_again=make)


def _computed_what_ifs(
    first: Trace,
    make: Callable[[TranslatorArguments], Trace],
    saved: WhatIfs | None,
    *,
    same_original: bool,
) -> WhatIfs:
    """Return the what-ifs of `first` that can be computed, and remove the others.

    With `same_original`, a what-if that fails is the visitor's latest change; otherwise it comes from a link, and the
    error says that it is left out.
    """
    saved_traces: dict[Any, Trace] = {}  # by the fingerprint of the parent and the what-if
    if saved:
        for number, what_if in enumerate(saved.what_ifs, 1):
            saved_traces[saved.parent(number).fingerprint, what_if] = saved.trace(number)
    traces: dict[int, Trace] = {0: first}
    problems = []
    stored = stored_what_ifs(MAIN)
    for number, what_if in enumerate(stored.what_ifs, 1):
        if (parent := traces.get(what_if.parent)) is None:
            continue
        try:
            trace = saved_traces.get((parent.fingerprint, what_if))
            traces[number] = trace or make(translator_arguments(parent, what_if.intervention, held=what_if.held))
        except AttnvizError as error:
            problems.append(str(error) if same_original else left_out_sentence(number, str(error)))
    if removed := set(range(1, len(stored.what_ifs) + 1)) - set(traces):
        stored = stored.without(removed, (*stored.problems, *problems))
        page_session()[WHAT_IFS] = stored
    return WhatIfs(first, stored.what_ifs, tuple(traces.values())[1:])


def what_changed(view: View) -> None:
    """Draw what changed at the current step; nothing for the original translation."""
    if view.parent is not None and not CHANGED.missing(Subject(view.trace, 0, parent=view.parent)):
        changes_address = address(view.trace, CHANGED.name, every=all_at_once(view), parent=view.parent)
        chart(view, changes_address, CHANGED.name)


@makes_payload(CHANGED.name, of_step=True)
def changed_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the changes at each requested step; raise UnknownPayloadError where there is no parent."""
    if request.parent is None:
        raise UnknownPayloadError(CHANGED.name)
    heading = gettext("Effect of the what-if at this step")
    subjects = [Subject(request.trace, step, parent=request.parent) for step in request.steps]
    return figure_payload(CHANGED, subjects, lambda subject: (heading, change_sentence(subject.change)))


FOILS = 10
"""Number of likeliest alternatives that are offered."""

_REQUEST = "what_if"
"""Parameter of the payload's address: the what-if as the browser would request it, as JSON."""


@makes_payload("consequence", needs_server=True)
def requested_consequence_payload(request: PayloadRequest) -> Payload:
    """Return the payload of what the requested what-if would do, or why it cannot be made."""
    try:
        return consequence_payload(request.view, orjson.loads(request.parameters.get(_REQUEST, "")))
    except (AttnvizError, orjson.JSONDecodeError) as error:
        reason = error if isinstance(error, AttnvizError) else impossible()
        return {"probability": str(reason), "words": []}


def consequence_payload(view: View, request: Any) -> Payload:
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
    written = recorded_pieces(other, step).get(trace.target_ids[step])  # after the same pieces
    if written:
        after = written[1]
    else:
        after = float(translate(translator_arguments(trace, intervention, held=True)).probabilities[step])
    probability = probability_change_text(trace.target_pieces[step], float(trace.probabilities[step]), after)
    words = words_with_changes(other, trace) if other.target_ids != trace.target_ids else ()
    return {"probability": probability, "words": list(map(asdict, words))}


@makes_payload("foils", of_step=True)
def foils_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the choices of another word at each requested step."""
    trace = request.trace
    return {
        "words": gettexts({"write": "Write this instead", "typed": "or type a word", "foils": "Likeliest other pieces"})
        | {
            "then": gettext(
                "The choice “Then”, beside the weights, decides whether the decoder rewrites the rest of the "
                "translation or keeps it."
                if trace.attends_once
                else "The new word makes the decoder rewrite all later words."
            )
        },
        "offers": {
            str(step): {
                "instead": gettext("Instead of {name}:", name=quoted_name(trace.target_pieces[step])),
                # PAD, UNK and BOS cannot be written.
                "foils": [
                    {"piece": index, "name": f"{shorten(piece_name(piece), 30)} · {percent(p)}"}
                    for index, piece, p in foils_of(trace, step)
                    if index >= EOS
                ][:FOILS],
            }
            for step in request.steps
        },
    }


@makes_payload("weight_controls", of_step=True)
def weight_controls_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the controls below the bars, for all steps."""
    trace, changes = request.trace, request.trace.interventions
    steps = range(len(trace.target_pieces))
    words = gettexts(
        {
            "hint": "Drag a bar, and the other bars adjust. On the keyboard, ← → move the selected bar, ↑ ↓ select "
            "another bar, and Enter applies the new weights. Selected piece: {name}.",
            "only": "Look only here",
            "without": "Anywhere but here",
            "alike": "Uniform",
            "undo": "Undo",
            "then": "Then",
            "anew": "rewrite the rest",
            "held": "keep the translation",
            "temperature": "Temperature",
            "hard": "hardest",
            "flat": "uniform",
            "every": "all steps",
            "borrow": "Borrow attention",
            "lender": "Whose attention",
            "step": "Step",
            "links": "Word links",
            "take": "Borrow it",
            "ofStep": "of another step",
            "ofPosterior": "of this step, after the word",
            "ofLinks": "of word links",
            "ofModel": "of the model {name}",
            "note": "The annotations do not change, so the weights alone decide the context vector. A step that "
            "borrows another step’s weights also gets that other step’s context vector, but keeps its own state and "
            "previous word. Write links as i-j: a source word and a target word, both counted from 0. If you borrow "
            "from another model, the other model first writes the translation shown (forced decoding). The current "
            "model then uses the weights of the other model.",
        }
    )
    return {
        "language": language(),
        "pieces": [quote(shorten(piece_name(piece), 30)) for piece in trace.source_surfaces],
        "written": [shorten(piece_name(piece), 30) for piece in trace.target_pieces],
        "temperatures": [_temperature(trace, step) for step in steps],
        "temperature": _temperature(trace, None),
        "set": [
            any(isinstance(one, ReplaceWeights | ReplaceEnergies) and one.step in (None, step) for one in changes)
            for step in steps
        ],
        "posterior": has_posterior(trace),
        "words": words | {"outdated": _outdated()},
    }


def _temperature(trace: Trace, step: int | None) -> float | str:
    """Return the last temperature of 0-based `step` alone, or for None that of all steps, JSON-serialisable."""
    changes = [one for one in trace.interventions if isinstance(one, Temperature) and one.step == step]
    temperature = changes[-1].temperature if changes else 1.0
    return ENDLESS if temperature == math.inf else temperature


def _outdated() -> str:
    return gettext("Faded parts still show the step before the change.")


def can_be_changed(trace: Record) -> bool:
    """Return whether the app can translate the sentence of `trace` again: its model is installed."""
    host = embedding()
    return tokenizer_of(trace) is not None if host is None else host.changes


def slider_labels(trace: Record) -> dict[str, str] | None:
    """Return the labels of the weights' sliders, or None where bars cannot be dragged."""
    if not trace.attends_once or not can_be_changed(trace):
        return None
    return gettexts(
        {
            "weight": "weight of {name}",
            "weights": "Attention weights",
            "keys": "Left and right arrow: change the weight. Up and down arrow: go to another weight.",
            "uprightKeys": "Up and down arrow: change the weight. Left and right arrow: go to another weight.",
        }
    ) | {"outdated": _outdated()}


def weights_chart(view: View, at: str, name: str) -> None:
    """Draw the figure `name` of the step's weights from the payload at `at`.

    Its bars can be dragged where `slider_labels`.
    """
    labels = slider_labels(view.trace)
    if labels and view.simple:
        labels["invitation"] = gettext("Drag a bar and watch the mixture change.")
        if view.number:
            labels["undo"] = gettext("Undo")
    # Without a translator at hand, there is nothing that a change would do.
    can_ask = labels and view.translate_again is not None
    consequence = shown_address("consequence", {"view": view}) if can_ask else None
    chart(view, at, name, hand=labels, consequence=consequence)


def intervention_panel(view: View) -> None:
    """Draw the controls of the current step's attention, where it can be changed; other models may lend theirs."""
    if slider_labels(view.trace) is not None:
        data = {
            "at": address(view.trace, "weight_controls"),
            "models": lenders(view.trace),
            "undo": view.number > 0,
            "problem": "\n".join(stored_what_ifs(view.id).problems),
        }
        component("intervention_controls", view.key("weight_controls"), data)


def other_word_panel(view: View) -> None:
    """Draw the choice of another word for the current step, if the model can write one."""
    if can_be_changed(view.trace):
        component("other_word", view.key("other_word"), {"at": payload_address(view, "foils")})
