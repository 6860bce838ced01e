"""Labels and line styles of charts: escape words for Plotly, shorten and thin out labels, colour lines by attention."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from attnviz.figures.build import Spec
from attnviz.palette import Palette
from attnviz.wording.labels import LONGEST, shorten


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


def literal(text: str) -> str:
    """Return `text` escaped so that Plotly draws these characters.

    In labels and hover texts Plotly interprets some HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$`
    as LaTeX where MathJax is loaded.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;").replace("\n", " ")


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then escaped."""
    return [literal(shorten(name, longest)) for name in names]


def label_stride(count: int, most_labels: int = 260) -> int:
    """Return the stride at which at most `most_labels` of `count` labels are drawn."""
    return -(-count // most_labels)
