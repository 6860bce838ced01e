"""Sentences about a context vector: its source words by weight, the most similar annotations, the displayed units."""

from __future__ import annotations

from attnviz.analysis.context_units import UNITS, ContextUnits
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.wording.diagram import mixture
from attnviz.wording.labels import quoted_name, subscript
from attnviz.wording.numbers import decimal

NEAREST = 3
"""Number of annotations that are named."""


def context_sentence(trace: Trace, units: ContextUnits, step: int) -> str:
    """Return the source words in the context of 0-based `step`, and the annotations most similar to it."""
    nearest = ", ".join(
        f"{quoted_name(trace.source_pieces[j])} {decimal(float(units.cosines[j]))}" for j in units.nearest[:NEAREST]
    )
    return gettext(
        "Measured by attention weight, {context} consists of {mixture}. The annotations most similar to it in "
        "direction (by cosine) are {nearest}.",
        context=f"c{subscript(step + 1)}",
        mixture=mixture(trace, step),
        nearest=nearest,
    )


def displayed_units_caption(trace: Trace) -> str:
    """Return which units are displayed, and how to read the figure."""
    return gettext(
        "Each column is one of the {count} units, out of {all}, in which the context vector of this step differs "
        "most from its mean over all steps. The largest difference comes first. In each row, a bar adds a word’s "
        "weight times its annotation: blue bars go up, red bars go down. The thin line is the sum of the rows "
        "above. → marks units of the forward half (read forwards), ← units of the backward half.",
        count=min(UNITS, trace.contexts.shape[1]),
        all=trace.contexts.shape[1],
    )
