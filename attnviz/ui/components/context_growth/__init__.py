"""Mount the figure of a context vector, or a head's output, as a running sum over the source pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.figures.context import context_frame
from attnviz.figures.encoding import to_json
from attnviz.figures.grammar import MOST_ROWS
from attnviz.languages import gettext, language
from attnviz.trace import Trace
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.component import component, packed
from attnviz.ui.embedding import theme_name
from attnviz.ui.view import View


def context_growth(view: View, at: str) -> None:
    """Draw the context of the current step from the payload at the address `at`."""
    component("context_growth", key=view.key("growth"), data={"at": at})


def growth_payload(attention: Trace | Head, sentences: Mapping[int, str]) -> dict[str, Any]:
    """Return the payload of a context's sum; `sentences` maps the steps to their captions.

    It has the values of the source pieces, (Tx, units), once, as `annotations`, and the weights, (Ty, Tx), as `alpha`;
    the browser computes every step from them.
    """
    vectors = attention.values
    long = len(vectors) > MOST_ROWS
    return {
        "figure": to_json(context_frame(attention).plotly(theme_name())),
        "thinned": to_json(context_frame(attention, thinned=True).plotly(theme_name())) if long else None,
        "symbol": attention.context_symbol,
        "annotations": packed(vectors),
        "alpha": packed(attention.alignment),
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
