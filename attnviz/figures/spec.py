"""`Spec`, what a figure function returns, and what all figures have in common: layout, axes, labels, text widths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import LONGEST, shorten
from attnviz.figures.vector_cells import with_vector_cells
from attnviz.languages import decimal_mark, thousands_mark
from attnviz.palette import FONT, Palette
from attnviz.text import with_symbols

Part = dict[str, Any]
"""A part of Plotly's JSON, with NumPy arrays for numbers."""
Table = Mapping[str, Sequence[Any]]
"""Columns of equal length by their names; the first is the index."""


@dataclass(frozen=True)
class Spec:
    """A figure as plain Plotly JSON, with its text alternative and its numbers."""

    data: list[Part]
    """Plotly's traces."""
    layout: Part
    """Plotly's layout. `meta` has what code that displays the figure needs: see `plotly`."""
    alt: str
    """Text alternative."""
    table: Table = field(default_factory=dict)
    """The numbers of the figure."""

    @property
    def plotly(self) -> Part:
        """Plotly's JSON.

        `layout.meta` has the text alternative (`alt`) and the width in pixels below which the figure should scroll
        (`narrowest`); some figures say more in it.
        """
        return {"data": self.data, "layout": self.layout | {"meta": self.layout["meta"] | {"alt": self.alt}}}

    def figure(self) -> go.Figure:
        """Return the figure as a Plotly object.

        Plotly's validation takes ten times as long as drawing; the tests validate every figure instead. Its default
        template, 7 kB of defaults for other chart types, is left out too.
        """
        spec = self.plotly
        return go.Figure({"data": spec["data"], "layout": {"template": {}} | spec["layout"]}, _validate=False)

    def frame(self) -> pd.DataFrame:
        """Return the numbers of the figure as a table, indexed by its first column."""
        index, *names = self.table
        return pd.DataFrame({name: self.table[name] for name in names}, index=pd.Index(self.table[index], name=index))


PRINT_WIDTH = 760
"""Width of a saved figure in pixels, unless its labels need more."""
STRIP = 24
"""Height of a strip of units in pixels."""


def build_figure(traces: list[Part], layout: Part) -> go.Figure:
    """Return the figure of these traces and this layout, without Plotly's validation."""
    return go.Figure({"data": traces, "layout": {"template": {}} | layout}, _validate=False)


def figure_json(figure: go.Figure) -> str:
    """Return a figure as JSON for the browser."""
    return str(figure.to_json())


def base_layout(ink: Palette) -> Part:
    """Return the common part of a layout: font, transparent background, no dragging."""
    return {
        "font": {"family": FONT, "color": ink.ink},
        "hoverlabel": {"font": {"family": FONT, "size": 14}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": False,
        "separators": decimal_mark() + thousands_mark(),  # decimal and thousands separators
        "showlegend": False,
    }


def base_axis(ink: Palette) -> Part:
    """Return the common part of an axis: hairlines, no zoom, no ticks.

    Labels may overflow and are level: otherwise Plotly measures each label at every drawing, which takes a third of its
    time.
    """
    return {
        "fixedrange": True,
        "ticklabeloverflow": "allow",
        "tickangle": 0,
        "ticks": "",
        "automargin": False,
        "gridcolor": ink.line,
        "zerolinecolor": ink.line,
        "tickfont": {"size": 11, "color": ink.quiet},
    }


APART: Part = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)"}
"""Keeps axis labels at a small distance from the plot."""


def rectangle(x0: float, x1: float, y0: float, y1: float, colour: str, width: float = 2) -> Part:
    """Return an unfilled frame in data coordinates."""
    return {
        "type": "rect",
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "line": {"color": colour, "width": width},
        "fillcolor": "rgba(0,0,0,0)",
    }


def emphasise(label: str, colour: str) -> str:
    """Return an already escaped label in bold and in `colour`, in Plotly's markup."""
    return f'<span style="color:{colour}"><b>{label}</b></span>'


def for_print(figure: go.Figure, paper: str = "#ffffff") -> go.Figure:
    """Return `figure` on the background `paper`, with a fixed width, for a file.

    Cells of heatmaps are vector rectangles. The width is PRINT_WIDTH, at least `layout.meta["narrowest"]` and at most
    `layout.meta["widest"]`, where a figure has it. On the page a figure is as wide as its container and transparent.
    """
    meta = figure.layout.meta
    width = max(meta["narrowest"], min(PRINT_WIDTH, meta.get("widest", PRINT_WIDTH)))
    parts = {"data": [trace.to_plotly_json() for trace in figure.data], "layout": figure.layout.to_plotly_json()}
    printed = go.Figure(with_vector_cells(parts, paper), _validate=False)
    return printed.update_layout(paper_bgcolor=paper, width=width)


class LineStyle(NamedTuple):
    """Colour, dash and symbol of a line."""

    colour: str
    dash: str
    symbol: str

    def line(self) -> Part:
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


def escape(text: str) -> str:
    """Return `text` escaped so that Plotly draws these characters.

    In labels and hover texts Plotly interprets some HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$`
    as LaTeX where MathJax is loaded. Characters that SVG cannot hold become symbols.
    """
    text = with_symbols(text.replace("\n", " "))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then escaped."""
    return [escape(shorten(name, longest)) for name in names]


_MOST_LABELS = 260


def label_stride(count: int) -> int:
    """Return the stride at which at most 260 of `count` labels are drawn."""
    return -(-count // _MOST_LABELS)


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


def strip_separators(places: Iterable[float], width: int, ink: Palette, first: float = -0.5) -> list[Part]:
    """Return thin lines in the background colour below the strips at `places`, which separate them."""
    line = {"color": ink.paper, "width": 3}
    return [
        {"type": "line", "x0": first, "x1": first + width, "y0": y + 0.5, "y1": y + 0.5, "line": line} for y in places
    ]


def strip_caption(text: str, x: int, ink: Palette) -> Part:
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
