"""Mount the energy decomposition: the energy of a cell as a sum over units.

The browser gets queries, keys and v_a of the whole sentence once, and moves from cell to cell without the server.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from attnviz.analysis.energy_decomposition import SATURATED, EnergyDecomposition, head_energy_decomposition
from attnviz.analysis.energy_decomposition import energy_decomposition as decompose
from attnviz.figures.build import figure_json
from attnviz.figures.energy_decomposition import (
    SATURATION_MARK,
    UNITS,
    energy_decomposition_figure,
    hover_template,
)
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.loader import component, packed
from attnviz.ui.view import View


def energy_decomposition(view: View, at: str, name: str = "energy-decomposition") -> None:
    """Draw the energy of the current cell from the payload at the address `at`; `name` is unique in the view."""
    component("energy_decomposition", isolate=False)(key=view.key(name), data={"at": at})


def energy_decomposition_payload(trace: Trace, score: NDArray[Any], theme: ThemeName) -> dict[str, Any]:
    """Return the payload that serves every cell: the three operands, and a figure of one cell to fill.

    It is the same at every step, so it is sent once. `score` is v_a, (n',), where n' is the number of hidden units.
    """
    decomposition = decompose(trace, {"decoder.attention.score": score}, 0, 0)
    return _cells_payload(trace, decomposition, theme)


def head_payload(opened: Head, theme: ThemeName) -> dict[str, Any]:
    """Return the same payload for a transformer's head, whose energy is a scaled dot product."""
    payload = _cells_payload(opened, head_energy_decomposition(opened, 0, 0), theme)
    words = {
        "heading": _heading(opened),
        "product": gettext(
            "The energy q · k / √d is {energy}. This energy is the sum of {n} products, each divided by √d: {for} "
            "positive and {against} negative. The {named} contributions of largest absolute value, named below, add "
            "up to {part}. Unit {largest} contributes most: {c}."
        ),
    }
    return payload | {"words": payload["words"] | words}


def _heading(opened: Head) -> str:
    """Return the heading, with placeholders for the query's and the key's piece."""
    if opened.kind == "encoder":
        return gettext("Energy, unit by unit: query of “{target}”, key of “{word}”")
    return gettext("Energy, unit by unit: query of the step that writes “{target}”, key of “{word}”")


def _cells_payload(attention: Trace | Head, decomposition: EnergyDecomposition, theme: ThemeName) -> dict[str, Any]:
    """Return the payload of all cells; `decomposition` is that of any cell: it determines the figure."""
    return {
        "queries": packed(attention.queries),
        "keys": packed(attention.keys),
        "score": packed(decomposition.score),
        "width": len(decomposition.score),
        "peaks": attention.alignment.argmax(axis=1).tolist(),
        "sources": [piece_name(piece) for piece in attention.source_pieces],
        "targets": [piece_name(piece) for piece in attention.target_pieces],
        "wide": figure_json(energy_decomposition_figure(decomposition, theme=theme)),
        "narrow": figure_json(energy_decomposition_figure(decomposition, operands=False, theme=theme)),
        "language": language(),
        "bounded": decomposition.bounded,
        "saturated": SATURATED,
        "named": UNITS,
        "words": _words(decomposition),
    }


def _words(decomposition: EnergyDecomposition) -> dict[str, str]:
    """Return the texts that the browser fills in, with placeholders in braces."""
    return {
        "heading": gettext("Energy decomposition: step {i} at “{word}”"),
        "unit": gettext("unit {k}"),
        "mark": SATURATION_MARK,
        "more": gettext("{n} more units: {c}"),
        "hover": hover_template(decomposition),
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
