"""Mount the energy decomposition: the energy of a cell as a sum over units.

The browser gets queries, keys and v_a of the whole sentence once, and moves from cell to cell without the server.
"""

from __future__ import annotations

from typing import Any

from attnviz.analysis.energy_equations import SATURATED, EnergyDecomposition
from attnviz.analysis.recomputation import Weights
from attnviz.figures.encoding import to_json
from attnviz.figures.energy_decomposition_figure import (
    SATURATION_MARK,
    SHOWN_ENERGY_UNITS,
    draw_energy_decomposition,
    unit_texts,
)
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, language
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.component import component, packed
from attnviz.ui.embedding import theme_name
from attnviz.ui.view import View


def mount_energy_decomposition(view: View, at: str, name: str = "energy-decomposition") -> None:
    """Draw the energy of the current cell from the payload at the address `at`; `name` is unique in the view."""
    component("energy_decomposition", key=view.key(name), data={"at": at})


def energy_decomposition_payload(attention: Trace | Head, weights: Weights | None) -> dict[str, Any]:
    """Return the payload that serves every cell: the three operands, and a figure of one cell to fill.

    It is the same at every step, so it is sent once. `weights` are needed only for a trace that lacks v_a.
    """
    subject = Subject(attention, 0, weights, 0)
    decomposition = subject.energy_decomposition
    return {
        "queries": packed(attention.queries),
        "keys": packed(attention.keys),
        "score": packed(decomposition.score),
        "width": len(decomposition.score),
        "peaks": attention.alignment.argmax(axis=1).tolist(),
        "sources": [piece_name(piece) for piece in attention.source_pieces],
        "targets": [piece_name(piece) for piece in attention.target_pieces],
        "wide": to_json(draw_energy_decomposition(subject).plotly(theme_name())),
        "narrow": to_json(draw_energy_decomposition(subject, operands=False).plotly(theme_name())),
        "language": language(),
        "bounded": decomposition.bounded,
        "saturated": SATURATED,
        "named": SHOWN_ENERGY_UNITS,
        "words": _words(decomposition) | (_head_words(attention) if attention.has_heads else {}),
    }


def _words(decomposition: EnergyDecomposition) -> dict[str, str]:
    """Return the texts that the browser fills in, with placeholders in braces."""
    return {
        "heading": gettext("Energy decomposition: step {i} at “{word}”"),
        "unit": gettext("unit {k}"),
        "mark": SATURATION_MARK,
        "more": gettext("{n} more units: {c}"),
        "hover": unit_texts(decomposition)[0],
        "sentence": gettext(
            "The energy of “{word}” at the step that writes “{target}” is {energy}. This energy is the sum of {n} "
            "contributions, one per unit: {for} positive and {against} negative. The {named} contributions of largest "
            "absolute value, named below, add up to {part}. Unit {largest} contributes most: {c}. Saturated units: "
            "{flat}. A larger query or key hardly changes the contributions of saturated units."
        ),
        "product": gettext(
            "The energy of “{word}” at the step that writes “{target}” is {energy}. This energy is a dot product, the "
            "sum of {n} products, one per unit: {for} positive and {against} negative. The {named} contributions of "
            "largest absolute value, named below, add up to {part}. Unit {largest} contributes most: {c}."
        ),
    }


def _head_words(head: Any) -> dict[str, str]:
    """Return the texts that differ for a transformer's head, whose energy is a scaled dot product."""
    if head.kind == "encoder":
        heading = gettext("Energy, unit by unit: query of “{target}”, key of “{word}”")
    else:
        heading = gettext("Energy, unit by unit: query of the step that writes “{target}”, key of “{word}”")
    product = gettext(
        "The energy q · k / √d is {energy}. This energy is the sum of {n} products, each divided by √d: {for} "
        "positive and {against} negative. The {named} contributions of largest absolute value, named below, add "
        "up to {part}. Unit {largest} contributes most: {c}."
    )
    return {"heading": heading, "product": product}
