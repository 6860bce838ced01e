"""Mount the figure of a context vector, or a head's output, as a running sum over the source pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import plotly.graph_objects as go

from attnviz.analysis.heads import HeadTrace, head_trace
from attnviz.figures.build import figure_json
from attnviz.figures.context import context_frame
from attnviz.figures.head_figure import values_frame
from attnviz.figures.source_rows import MOST_ROWS
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import FloatArray, Trace, TransformerTrace
from attnviz.ui.components.loader import component, packed
from attnviz.ui.view import View


def context_growth(view: View, at: str) -> None:
    """Draw the context of the current step from the payload at the address `at`."""
    component("context_growth", isolate=False)(key=view.key("growth"), data={"at": at})


def growth_payload(trace: Trace, sentences: Mapping[int, str], theme: ThemeName) -> dict[str, Any]:
    """Return the payload of the context's sum; `sentences` maps the steps to their captions."""
    vectors = trace.annotations[:, : trace.contexts.shape[1]]
    return _payload(partial(context_frame, trace, theme=theme), "c", vectors, trace.alignment, sentences)


def values_payload(
    trace: TransformerTrace | HeadTrace, sentences: Mapping[int, str], theme: ThemeName
) -> dict[str, Any]:
    """Return the same payload for the opened head of a transformer: the weighted sum of its values."""
    opened = head_trace(trace)
    return _payload(partial(values_frame, trace, theme=theme), "z", opened.values, opened.weights, sentences)


def _payload(
    frame: Callable[..., go.Figure],
    symbol: str,
    vectors: FloatArray,
    weights: FloatArray,
    sentences: Mapping[int, str],
) -> dict[str, Any]:
    """Return the payload of a weighted sum named `symbol`.

    It has the `vectors` of the source pieces, (Tx, units), once, as `annotations`, and the `weights`, (Ty, Tx), as
    `alpha`; the browser computes every step from them.
    """
    long = len(vectors) > MOST_ROWS
    return {
        "figure": figure_json(frame()),
        "thinned": figure_json(frame(thinned=True)) if long else None,
        "symbol": symbol,
        "annotations": packed(vectors),
        "alpha": packed(weights),
        "units": vectors.shape[1],
        "language": language(),
        "captions": {str(i): sentence for i, sentence in sentences.items()},
        "words": {
            "build": gettext("Build it up"),
            "stop": gettext("Stop"),
            "added": gettext("Pieces added"),
            "order": gettext("Row order, stages 1 to 3"),
            "sentence": gettext("sentence order"),
            "strongest": gettext("strongest first"),
            "more": gettext("{n} more"),
            "sum": gettext("sum = {c}"),
            "part": gettext("sum so far"),
            "count": gettext("{k} of {n}"),
            "all": gettext("all {n} rows added: {c}"),
            "some": gettext("{k} of {n} rows added, Σα = {weight}"),
        },
    }
