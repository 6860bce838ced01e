"""Making a Plotly figure from plain dictionaries, and what every figure's layout shares."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from attnviz.languages import decimal_mark, thousands_mark
from attnviz.palette import FONT, Palette

Spec = dict[str, Any]

PRINT_WIDTH = 760
"""Pixels of a saved figure's width, unless its labels need more."""
STRIP = 24
"""Pixels of the height of a strip of units."""


def build(traces: list[Spec], layout: Spec) -> go.Figure:
    """Return the figure of these traces and this layout.

    Plotly's check of every property costs ten times what drawing costs, and a step draws four figures at each key
    press: it is left out here, and made by the tests on every figure instead. So is Plotly's own template, seven
    kilobytes of defaults for charts that are not drawn here.
    """
    return go.Figure({"data": traces, "layout": {"template": {}} | layout}, _validate=False)


def base_layout(ink: Palette) -> Spec:
    """Return the part of a layout that is the same everywhere: the page's face, no background, no dragging."""
    return {
        "font": {"family": FONT, "color": ink.ink},
        "hoverlabel": {"font": {"family": FONT, "size": 14}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": False,
        "separators": decimal_mark() + thousands_mark(),  # of decimals, and of thousands
        "showlegend": False,
    }


def base_axis(ink: Palette) -> Spec:
    """Return the part of an axis that is the same everywhere: hairlines, no zoom, no ticks.

    Labels may stand over the edge: to find out whether one does, Plotly measures each of them at every drawing, which
    takes a third of its time.
    """
    return {
        "fixedrange": True,
        "ticklabeloverflow": "allow",
        "ticks": "",
        "automargin": False,
        "gridcolor": ink.line,
        "zerolinecolor": ink.line,
        "tickfont": {"size": 11, "color": ink.quiet},
    }


APART: Spec = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)"}
"""Keeps the labels of an axis a little away from what they name."""


def rectangle(x0: float, x1: float, y0: float, y1: float, colour: str, width: float = 2) -> Spec:
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
    """Return an already literal label in bold and in `colour`, in Plotly's markup."""
    return f'<span style="color:{colour}"><b>{label}</b></span>'


def for_print(figure: go.Figure, paper: str = "#ffffff", width: int | None = None) -> go.Figure:
    """Return `figure` on `paper` and of a fixed width: what a file is made of.

    The width is PRINT_WIDTH unless given, but at least `layout.meta["narrowest"]` and at most `layout.meta["widest"]`,
    where a figure has this bound. On the page a figure is as wide as its box, and the page shows through.
    """
    meta, wanted = figure.layout.meta, width or PRINT_WIDTH
    bounded = max(meta["narrowest"], min(wanted, meta.get("widest", wanted)))
    return go.Figure(figure).update_layout(paper_bgcolor=paper, width=bounded)
