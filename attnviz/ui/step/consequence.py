"""Compute what a change by hand would do while the visitor still makes it: the step's word, and the translation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import orjson

from attnviz import AttnvizError, Trace
from attnviz.languages import gettext
from attnviz.trace.changes import resolved
from attnviz.ui.page_state.view import View
from attnviz.ui.session_payloads import register_content
from attnviz.ui.step.what_if import requested_change
from attnviz.wording.what_if import probability_change_text, words_with_changes

REQUEST = "what_if"
"""Parameter of the payload's address: the what-if as the browser would request it, as JSON."""


def consequence_address(view: View) -> str | None:
    """Register the payload of what-ifs of `view` that are not made yet; None where none can be made."""
    if view.translate_again is None:
        return None
    return register_content(view.key("consequence"), view.identity, partial(_consequence_at, view))


def _consequence_at(view: View, parameters: Mapping[str, str]) -> dict[str, Any]:
    try:
        return consequence_payload(view, orjson.loads(parameters.get(REQUEST, "")))
    except orjson.JSONDecodeError:
        return {"probability": gettext("This change to the translation is not possible."), "words": []}
    except AttnvizError as error:
        return {"probability": str(error), "words": []}


def consequence_payload(view: View, request: Any) -> dict[str, Any]:
    """Return what the requested what-if would do to the translation that `view` shows.

    `probability` says how likely the step's piece is before and after it, with the earlier pieces unchanged; `words` is
    the translation with what would change, empty where all words stay. Raise AttnvizError where the request is invalid.
    """
    change = requested_change(view, request)
    trace, step, translate = view.trace, getattr(change, "step", None), view.translate_again
    if step is None or translate is None:
        raise AttnvizError(gettext("This change to the translation is not possible."))
    other = translate(resolved(trace, change, held=request.get("held") is True))
    before, after = float(trace.probabilities[step]), _probability(other, trace, step)
    if after is None:
        after = float(translate(resolved(trace, change, held=True)).probabilities[step])
    words = words_with_changes(other, trace) if other.target_ids != trace.target_ids else ()
    return {
        "probability": probability_change_text(trace.target_pieces[step], before, after),
        "words": [asdict(word) for word in words],
    }


def _probability(other: Trace, trace: Trace, step: int) -> float | None:
    """Return the probability in `other` of the piece that `trace` writes at 0-based `step`, after the same pieces.

    None where the pieces before it differ, or where it is not among the likeliest pieces, which a trace records.
    """
    if other.target_ids[:step] != trace.target_ids[:step]:
        return None
    places = np.flatnonzero(other.top_ids[step] == trace.target_ids[step])
    return float(other.top_probabilities[step][places[0]]) if len(places) else None
