"""The context vector that grows, strip by strip, in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.figures.context_growth import context_frame
from attnviz.figures.source_rows import MOST_ROWS
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.loader import component, packed
from attnviz.ui.page_state.view import View


def context_growth(view: View, at: str) -> None:
    """Draw the context of the step on show; what it is drawn from lies at the address `at`."""
    component("context_growth", isolate=False)(key=view.key("growth"), data={"at": at})


def growth_record(trace: Trace, sentences: Mapping[int, str], theme: ThemeName) -> dict[str, Any]:
    """Return what the browser draws the growing context from: the annotations, once, of which it multiplies out every
    step itself.

    `sentences` maps the steps that the browser is given to what is said of each.
    """
    units = trace.contexts.shape[1]
    long = len(trace.source_pieces) > MOST_ROWS
    return {
        "figure": context_frame(trace, theme=theme).to_json(),
        "thinned": context_frame(trace, thinned=True, theme=theme).to_json() if long else None,
        "annotations": packed(trace.annotations[:, :units]),
        "alpha": packed(trace.alignment),
        "units": units,
        "language": language(),
        "captions": {str(i): sentence for i, sentence in sentences.items()},
        "words": {
            "build": say("Build it up"), "stop": say("Stop"), "added": say("Pieces added"),
            "order": say("Rows of stages 1 to 3"), "sentence": say("as in the sentence"),
            "strongest": say("strongest first"), "more": say("{n} more"), "sum": say("sum = {c}"),
            "part": say("sum so far"), "count": say("{k} of {n}"), "all": say("all {n} rows added: {c}"),
            "some": say("{k} of {n} rows added, Σα = {weight}"),
        },
    }  # fmt: skip
