"""Handle requests about what-ifs (add, show, remove, undo), compute their traces, and draw what changed at a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.gold import parse_pharaoh
from attnviz.analysis.what_if_effects import change_sentence, weights_from_links, weights_from_trace
from attnviz.errors import AttnvizError
from attnviz.figures.registry import CHANGED
from attnviz.figures.subject import Subject
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.model_folder import read_config
from attnviz.text import UNK
from attnviz.trace import Trace, WhatIf, WhatIfs
from attnviz.trace.interventions import (
    ForceWords,
    Intervention,
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
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.embedding import page_session
from attnviz.ui.examples import first_step
from attnviz.ui.page_state.selection import with_chosen_heads
from attnviz.ui.page_state.what_if_state import WHAT_IFS, open_what_ifs, stored_what_ifs
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, all_at_once, makes_payload
from attnviz.ui.resources import TranslateAgain, cached_posterior, devices, tokenizer_of, translate
from attnviz.ui.view import View, view_key

_LONGEST_TYPED = 80
"""Largest length of a word that is typed for another, in characters."""


def _requested_view(view: View, request: Any) -> View | None:
    """Return the view for which the browser made a request, which may be anything; another what-if may be current now.

    None where it is about neither `view` nor one of its what-ifs.
    """
    if not isinstance(request, Mapping) or not isinstance(request.get("what_if"), Mapping):
        return None
    what_ifs = view.what_ifs
    traces = {number: what_ifs.trace(number) for number in range(len(what_ifs.what_ifs) + 1)} if what_ifs else {}
    traces[view.number] = view.trace
    numbers = (number for number, trace in traces.items() if trace.fingerprint == request.get("identity"))
    number = next(numbers, None)
    return None if number is None else replace(view, trace=traces[number], number=number)


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
    except AttnvizError as error:
        changed = replace(stored, problems=(str(error),))
    except (KeyError, TypeError, ValueError):
        changed = replace(stored, problems=(str(impossible()),))
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
    if _has_no_effect(view, intervention):
        return stored
    return stored.adding(WhatIf(view.number, intervention, payload.get("held") is True))


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
    tokenizer = tokenizer_of(view.trace)
    if tokenizer is None:
        raise AttnvizError(gettext("You can type a word only if the model that made this translation is installed."))
    if len(text) > _LONGEST_TYPED:
        raise AttnvizError(gettext("A typed word can have at most {most} characters.", most=_LONGEST_TYPED))
    pieces = tokenizer.encode(text)
    if not pieces:
        raise AttnvizError(gettext("Type the word that this step should write."))
    if UNK in pieces:
        unseen = "  ".join(tokenizer.unknown_characters(text)[:20])
        raise AttnvizError(gettext("The model has never seen {listed}, so it cannot write this word.", listed=unseen))
    return ForceWords(tuple(pieces), step, replaced_by(view.trace, step))


def _has_no_effect(view: View, intervention: Intervention) -> bool:
    """Return whether an intervention has no effect, for example when a bar is released at its old place."""
    trace, step = view.trace, intervention.step
    match intervention:
        case Temperature(temperature=1):
            return not any(intervention.undoes(one) for one in trace.interventions)
        case ForceWords(pieces=pieces, replaced=replaced):
            return pieces == tuple(trace.target_ids)[intervention.step :][:replaced]
        case ReplaceWeights(weights=weights) if step is not None and step < view.steps:
            return weights == whole_weights(trace.alignment[step])
    return False


def lenders(trace: Trace) -> list[str]:
    """Return the names of the other models with attention, whose weights a step of `trace` can borrow."""
    return [name for name, folder in installed_models().items() if name != trace.model and _has_attention(str(folder))]


def borrowed_row(trace: Trace, step: int, lender: str, of: str) -> NDArray[np.float64]:
    """Return the weights (Tx,), at least 0, with sum 1, that 0-based `step` of `trace` borrows from a `lender`.

    `of` says which one: for "step" its number from 0; for "links" word links as text, source and target words counted
    from 0; for "model" its name, and it force-decodes the same translation. "posterior" needs none. Raise AttnvizError
    if there are no such weights.
    """
    match lender:
        case "step":
            if of not in map(str, range(len(trace.target_ids))):
                raise AttnvizError(gettext("The step whose weights you want to borrow does not exist."))
            return np.asarray(trace.alignment[int(of)], np.float64)
        case "posterior":
            posterior = cached_posterior(trace)
            if posterior is None:
                raise AttnvizError(
                    gettext(
                        "Posterior attention cannot be computed: the model that made this translation is not installed."
                    )
                )
            return np.asarray(posterior[step], np.float64)
        case "links":
            return weights_from_links(trace, step, parse_pharaoh(of))
        case "model" if of in lenders(trace):
            return weights_from_trace(trace, step, _force_decoded(trace, of))
    raise AttnvizError(gettext("No installed model with attention has the requested name."))


def _force_decoded(trace: Trace, model: str) -> Trace:
    """Return the trace of another model, force-decoded with the sentence and translation of `trace`."""
    device = trace.device if trace.device in devices() else "auto"  # a file may come from another machine
    return translate(str(installed_models()[model]), device, trace.source_text, 1, trace.translation)


def _has_attention(folder: str) -> bool:
    try:
        return bool(read_config(folder).get("attention") != "none")
    except AttnvizError:  # damaged: the error is shown when the model is used
        return False


def current_view(
    view_id: str,
    first: Trace,
    *,
    device: str = "auto",
    beam: int | None = None,
    saved: WhatIfs | None = None,
    make: Callable[[TranslatorArguments], Trace] | None = None,
) -> View:
    """Return the view of the current what-if of `first`, or of `first` itself.

    The model that made `first` computes them on `device`, with beam width `beam`, by default that of `first`, or `make`
    does; those that were `saved` need no model. What-ifs that fail are left out, and `stored_what_ifs` has the errors.
    """
    same_original = open_what_ifs(view_id, first, saved.what_ifs if saved else None)
    make = make or TranslateAgain(first, device, beam)
    what_ifs = _computed_what_ifs(view_id, first, make, saved, same_original=same_original)
    number = stored_what_ifs(view_id).current
    trace = with_chosen_heads(view_id, what_ifs.trace(number))
    return View(view_id, trace, what_ifs, number, first_step=first_step(trace), translate_again=make)


def _computed_what_ifs(
    view_id: str,
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
    saved_traces = _traces_by_what_if(saved) if saved else {}
    traces: dict[int, Trace] = {0: first}
    problems = []
    stored = stored_what_ifs(view_id)
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
        page_session()[view_key(view_id, WHAT_IFS)] = stored
    return WhatIfs(first, stored.what_ifs, tuple(traces.values())[1:])


def _traces_by_what_if(saved: WhatIfs) -> dict[tuple[str, WhatIf], Trace]:
    """Return the traces of a file, by the fingerprint of the parent and the what-if."""
    traces = {}
    for number, what_if in enumerate(saved.what_ifs, 1):
        parent = cast("Trace", saved.parent(number))
        traces[parent.fingerprint, what_if] = saved.trace(number)
    return traces


def what_changed(view: View) -> None:
    """Draw what changed at the current step; nothing for the original translation."""
    if view.parent is not None and not CHANGED.missing(Subject(view.trace, 0, parent=view.parent)):
        changes_address = address(view.trace, CHANGED.name, every=all_at_once(view), parent=view.parent)
        chart(view, changes_address, CHANGED.name)


@makes_payload(CHANGED.name, of_step=True)
def changed_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the changes at each requested step; raise UnknownPayloadError where there is no parent."""
    if request.parent is None:
        raise UnknownPayloadError(CHANGED.name)
    heading = gettext("Effect of the what-if at this step")
    subjects = [Subject(request.trace, step, parent=request.parent) for step in request.steps]
    return chart_payload(
        {subject.step: CHANGED.draw(subject) for subject in subjects},
        {subject.step: (heading, change_sentence(subject.change)) for subject in subjects},
    )
