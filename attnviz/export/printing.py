"""Figures for files: of fixed width, on the background of the file, and without bitmaps."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.spec import PRINT_WIDTH, Part, Spec, width
from attnviz.palette import ThemeName

MOST = 200
"""Rows or columns up to which each cell is a rectangle; strips of more units than pixels stay bitmaps."""
_MARKUP = re.compile(r"<[^<>]*>")


def for_print(spec: Spec, theme: ThemeName = "light") -> go.Figure:
    """Return the figure on the background of the theme, with a fixed width, for a file.

    Cells of heatmaps are vector rectangles. The width is PRINT_WIDTH, at least `layout.meta["narrowest"]` and at most
    `layout.meta["widest"]`, where a figure has it. On the page a figure is as wide as its container and transparent.
    """
    spec = with_label_room(spec)
    meta = spec.layout["meta"]
    # The browser that draws the file measures the labels, in its own font, and widens margins that are too narrow. The
    # viewer of an SVG may have another font: the margins, on which labels end, hold the widest.
    layout = {name: axis | {"automargin": True} for name, axis in spec.layout.items() if name[1:].startswith("axis")}
    layout |= {
        "paper_bgcolor": "sheet",
        "width": max(meta["narrowest"], min(PRINT_WIDTH, meta.get("widest", PRINT_WIDTH))),
    }
    return replace(spec, data=with_vector_cells(spec), layout=spec.layout | layout).figure(theme)


def with_label_room(spec: Spec) -> Spec:
    """Return a figure with room for labels in any font, on the left and below; its bars are not shorter for that."""
    layout, margin = spec.layout, spec.layout["margin"]
    axes = {name: axis for name, axis in layout.items() if name[1:].startswith("axis") and "side" not in axis}
    left, below = (
        max(0, max((_label_room(name, axis) for name, axis in axes.items() if name[0] == letter), default=0) - given)
        for letter, given in (("y", margin["l"]), ("x", margin["b"]))
    )
    widths = {name: layout["meta"][name] + left for name in ("narrowest", "widest") if name in layout["meta"]}
    room = {
        "margin": margin | {"l": margin["l"] + left, "b": margin["b"] + below},
        "height": layout["height"] + below,
        "meta": layout["meta"] | widths,
    }
    return replace(spec, layout=layout | room)


def _label_room(name: str, axis: Part) -> int:
    """Return the pixels that the labels of an axis need at the edge of the figure, that of x axes below."""
    is_row_axis = name.startswith("y")
    if axis.get("showticklabels") is False or (is_row_axis and axis.get("anchor", "x") not in ("x", "free")):
        return 0
    texts, size = axis.get("ticktext", ()), axis["tickfont"]["size"]
    bold = any("<b>" in text for text in texts)
    longest = max((width(html.unescape(_MARKUP.sub("", text)), size, bold=bold) for text in texts), default=0)
    share = 1 if is_row_axis else abs(math.sin(math.radians(axis.get("tickangle", 0))))
    return 18 + int(axis.get("ticklabelstandoff", 0)) + int(share * longest)


def with_vector_cells(spec: Spec) -> list[Part]:
    """Return the traces of a figure whose heatmaps are bars, one for each cell, without hover texts.

    An outline in the colour of the gap, or without gaps in the cell's own colour, covers the seam between neighbouring
    cells, where viewers would show a hairline.
    """
    return [
        _bars(trace, _gap_colour(trace, spec.layout))
        if trace["type"] == "heatmap" and max(np.shape(trace["z"])) <= MOST
        else trace
        for trace in spec.data
        if trace.get("opacity") != 0  # it only reacts to the pointer
    ]


def _gap_colour(trace: Part, layout: Part) -> str:
    """Return the background of a heatmap: that of all panels, or else a shape below this panel."""
    axes = [trace.get("xaxis", "x"), trace.get("yaxis", "y")]
    backgrounds = [
        shape["fillcolor"]
        for shape in layout.get("shapes", ())
        if {"layer", "fillcolor"} <= shape.keys()
        and [shape.get(f"{axis}ref", axis).split()[0] for axis in "xy"] == axes
    ]
    common = layout["plot_bgcolor"]
    return str(common if common != "rgba(0,0,0,0)" else [*backgrounds, "sheet"][0])


def _bars(trace: Part, gap: str) -> Part:
    numbers = np.asarray(trace["z"], dtype=float)
    (left, wide), (top, high) = (
        _edges(trace, axis, count) for axis, count in zip("xy", numbers.shape[::-1], strict=True)
    )
    known = np.isfinite(numbers)
    rows, columns = np.nonzero(known)
    scale = {"coloraxis": "coloraxis", "zmin": "cmin", "zmax": "cmax", "colorscale": "colorscale"}
    colours: Part = {"color": numbers[known]} | {scale[name]: trace[name] for name in scale if name in trace}
    outline: Part = {"width": 1, "color": gap} if trace.get("xgap") else colours | {"width": 0.4}
    bar = {name: trace[name] for name in ("name", "xaxis", "yaxis") if name in trace}
    return bar | {
        "type": "bar",
        "x": (left + wide / 2)[columns],
        "width": wide[columns],
        "offset": -wide[columns] / 2,
        "base": top[rows],
        "y": high[rows],
        "marker": colours
        | {"line": outline, "showscale": trace.get("showscale", True), "colorbar": trace.get("colorbar")},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _edges(trace: Part, axis: str, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the starts and the lengths of the cells on an axis, given by centres, edges, or a start and a distance."""
    start, step = trace.get(f"{axis}0", 0), trace.get(f"d{axis}", 1)
    centres = np.asarray(trace[axis], dtype=float) if axis in trace else start + step * np.arange(count)
    edges = centres
    if len(centres) == count:
        steps = np.diff(centres) if count > 1 else np.ones(1)
        between = (centres[1:] + centres[:-1]) / 2
        edges = np.concatenate([centres[:1] - steps[:1] / 2, between, centres[-1:] + steps[-1:] / 2])
    return edges[:-1], np.diff(edges)
