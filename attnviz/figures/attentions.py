"""How models that differ in their attention are told apart in every picture: by colour, dash and symbol."""

from __future__ import annotations

from typing import NamedTuple

from attnviz.figures.build import Spec
from attnviz.palette import Palette


class Look(NamedTuple):
    """A line's colour, dash and symbol."""

    colour: str
    dash: str
    symbol: str

    def line(self) -> Spec:
        """Return the line and the markers of a trace."""
        return {
            "line": {"color": self.colour, "width": 2, "dash": self.dash},
            "marker": {"size": 8, "symbol": self.symbol, "color": self.colour},
        }


def look_of(attention: str, ink: Palette) -> Look:
    """Return how a model with this kind of attention is drawn, as in BLEU by length."""
    return {
        "additive": Look(ink.ink, "solid", "circle"),
        "general": Look(ink.plus, "dash", "square"),
        "none": Look(ink.minus, "dot", "diamond"),
    }[attention]
