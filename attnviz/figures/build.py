"""Build Plotly figures from dictionaries, with a common layout, and prepare them for files."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from attnviz.languages import decimal_mark, thousands_mark
from attnviz.palette import FONT, Palette

Spec = dict[str, Any]

PRINT_WIDTH = 760
"""Width of a saved figure in pixels, unless its labels need more."""
STRIP = 24
"""Height of a strip of units in pixels."""


def build(traces: list[Spec], layout: Spec) -> go.Figure:
    """Return the figure of these traces and this layout, without Plotly's validation.

    Validation takes ten times as long as drawing, and a step draws four figures at each key press; the tests validate
    every figure instead. Plotly's default template, 7 kB of defaults for other chart types, is left out too.
    """
    return go.Figure({"data": traces, "layout": {"template": {}} | layout}, _validate=False)


def base_layout(ink: Palette) -> Spec:
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


def base_axis(ink: Palette) -> Spec:
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


APART: Spec = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)"}
"""Keeps axis labels at a small distance from the plot."""


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
    """Return `figure` on the background `paper`, with a fixed width, for a file.

    The width is PRINT_WIDTH by default, at least `layout.meta["narrowest"]` and at most `layout.meta["widest"]`, where
    a figure has it. On the page a figure is as wide as its container and transparent.
    """
    meta, wanted = figure.layout.meta, width or PRINT_WIDTH
    bounded = max(meta["narrowest"], min(wanted, meta.get("widest", wanted)))
    return go.Figure(figure).update_layout(paper_bgcolor=paper, width=bounded)
