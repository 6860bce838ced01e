"""Line styles of models by their kind of attention (additive, general, none), the same in every figure."""

from __future__ import annotations

from typing import NamedTuple

from attnviz.figures.build import Spec
from attnviz.palette import Palette


class LineStyle(NamedTuple):
    """Colour, dash and symbol of a line."""

    colour: str
    dash: str
    symbol: str

    def line(self) -> Spec:
        """Return the line and marker properties of a Plotly trace."""
        return {
            "line": {"color": self.colour, "width": 2, "dash": self.dash},
            "marker": {"size": 8, "symbol": self.symbol, "color": self.colour},
        }


def line_style(attention: str, ink: Palette) -> LineStyle:
    """Return the style of a model with this kind of attention, as in BLEU by length."""
    return {
        "additive": LineStyle(ink.ink, "solid", "circle"),
        "general": LineStyle(ink.plus, "dash", "square"),
        "none": LineStyle(ink.minus, "dot", "diamond"),
    }[attention]
