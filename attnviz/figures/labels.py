"""Labels of charts: words, captions of unit strips, line styles, and the width of text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import combining, east_asian_width

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


_EM = {" .,;:'’|ijlI": 0.33, "rtf()-/“”«»": 0.45, "cksvxyz": 0.6, "mwMW…—": 1.0}
"""Widths of letters in font sizes, in the widest fallback font, since the font of a viewer is unknown."""
_WIDTHS = {letter: width for letters, width in _EM.items() for letter in letters}


def width(text: str, size: float) -> float:
    """Return the largest width of `text` in pixels, with letters of `size` pixels."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1.05
    return _WIDTHS.get(letter, 0.75 if letter.isupper() else 0.64)


def strip_separators(places: Iterable[float], width: int, ink: Palette, first: float = -0.5) -> list[Spec]:
    """Return thin lines in the background colour below the strips at `places`, which separate them."""
    line = {"color": ink.paper, "width": 3}
    return [
        {"type": "line", "x0": first, "x1": first + width, "y0": y + 0.5, "y1": y + 0.5, "line": line} for y in places
    ]


def strip_caption(text: str, x: int, ink: Palette) -> Spec:
    """Return a caption above the strips, at their left (0) or right (1) end."""
    return {
        "text": text,
        "x": x,
        "xref": "paper",
        "xanchor": "right" if x else "left",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": ink.quiet},
    }
