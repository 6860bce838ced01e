"""The energy microscope in the browser.

Queries, keys and v_a of the whole sentence go there once, which moves from cell to cell by itself.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from attnviz.analysis.microscope import SATURATED
from attnviz.analysis.microscope import microscope as units_of
from attnviz.figures.microscope import MARK, UNITS, hover_template, microscope_figure
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.ui.components.loader import component, packed
from attnviz.ui.page_state.view import View


def microscope(view: View, at: str) -> None:
    """Draw the energy of the cell on show; what it is drawn from lies at the address `at`."""
    component("microscope", isolate=False)(key=view.key("microscope"), data={"at": at})


def microscope_record(trace: Trace, score: NDArray[Any], theme: ThemeName) -> dict[str, Any]:
    """Return what the browser needs to draw any cell: the three operands, and a figure of one cell to fill.

    It is the same at every step, so that it is sent once. `score` is v_a, (n',).
    """
    bounded = trace.config["attention"] == "additive"
    units = units_of(trace, {"decoder.attention.score": score}, 0, 0)
    return {
        "queries": packed(trace.queries), "keys": packed(trace.keys), "score": packed(score), "width": len(score),
        "peaks": trace.alignment.argmax(axis=1).tolist(),
        "sources": [piece_name(piece) for piece in trace.source_pieces],
        "targets": [piece_name(piece) for piece in trace.target_pieces],
        "wide": microscope_figure(units, theme=theme).to_json(),
        "narrow": microscope_figure(units, operands=False, theme=theme).to_json(),
        "language": language(), "bounded": bounded, "saturated": SATURATED, "named": UNITS,
        "words": _words(bounded),
    }  # fmt: skip


def _words(bounded: bool) -> dict[str, str]:
    """Return what the browser fills in: names of numbers in braces."""
    return {
        "heading": say("Energy microscope: step {i} at “{word}”"),
        "unit": say("unit {k}"),
        "mark": MARK,
        "more": say("{n} more units: {c}"),
        "hover": hover_template(bounded),
        "sentence": say(
            "Should “{target}” look at “{word}”? {n} units vote, {for} for and {against} against, and the energy is "
            "the sum of their votes: {energy}. The {named} strongest, by name below, bring {part}; unit {largest} says "
            "most, {c}. {flat} are saturated: whatever query and key say beyond that, their vote stays."
        ),
        "product": say(
            "Should “{target}” look at “{word}”? The energy is a dot product, {energy}: the sum of {n} products, {for} "
            "for and {against} against. The {named} largest, by name below, bring {part}; unit {largest} says most, "
            "{c}."
        ),
    }
