"""Cells of heatmaps as vector rectangles, for files: Plotly draws a heatmap as a bitmap."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Part = dict[str, Any]

MOST = 200
"""Rows or columns up to which each cell is a rectangle; strips of more units than pixels stay bitmaps."""


def with_vector_cells(figure: _Part, paper: str) -> _Part:
    """Return a figure whose heatmaps are bars, one for each cell, without hover texts.

    An outline in the colour of the gap, or without gaps in the cell's own colour, covers the seam between neighbouring
    cells, where viewers would show a hairline.

    Args:
        figure: Plotly's JSON with NumPy arrays.
        paper: Background of the file.
    """
    data = [
        _bars(trace, _gap_colour(trace, figure["layout"], paper))
        if trace["type"] == "heatmap" and max(_array(trace["z"]).shape) <= MOST
        else trace
        for trace in figure["data"]
        if trace.get("opacity") != 0  # it only reacts to the pointer
    ]
    return {"data": data, "layout": figure["layout"]}


def _gap_colour(trace: _Part, layout: _Part, paper: str) -> str:
    """Return the background of a heatmap: that of all panels, or else a shape below this panel."""
    axes = [trace.get("xaxis", "x"), trace.get("yaxis", "y")]
    backgrounds = [
        shape["fillcolor"]
        for shape in layout.get("shapes", ())
        if {"layer", "fillcolor"} <= shape.keys()
        and [shape.get(f"{axis}ref", axis).split()[0] for axis in "xy"] == axes
    ]
    common = layout["plot_bgcolor"]
    return str(common if common != "rgba(0,0,0,0)" else [*backgrounds, paper][0])


def _bars(trace: _Part, gap: str) -> _Part:
    numbers = _array(trace["z"])
    (left, wide), (top, high) = (
        _edges(trace, axis, count) for axis, count in zip("xy", numbers.shape[::-1], strict=True)
    )
    known = np.isfinite(numbers)
    rows, columns = np.nonzero(known)
    scale = {"coloraxis": "coloraxis", "zmin": "cmin", "zmax": "cmax", "colorscale": "colorscale"}
    colours: _Part = {"color": numbers[known]} | {scale[name]: trace[name] for name in scale if name in trace}
    outline: _Part = {"width": 1, "color": gap} if trace.get("xgap") else colours | {"width": 0.4}
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


def _array(numbers: Any) -> NDArray[np.float64]:
    """Return numbers that may be one of Plotly's typed arrays."""
    if isinstance(numbers, dict):
        shape = [int(size) for size in str(numbers.get("shape", -1)).split(",")]
        numbers = np.frombuffer(b64decode(numbers["bdata"]), f"<{numbers['dtype']}").reshape(shape)
    return np.asarray(numbers, dtype=float)


def _edges(trace: _Part, axis: str, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the starts and the lengths of the cells on an axis, given by centres, edges, or a start and a distance."""
    start, step = trace.get(f"{axis}0", 0), trace.get(f"d{axis}", 1)
    centres = _array(trace[axis]) if axis in trace else start + step * np.arange(count)
    if len(centres) > count:  # they are edges
        return centres[:-1], np.diff(centres)
    between = (centres[1:] + centres[:-1]) / 2
    first, last = (1.0, 1.0) if count == 1 else (centres[1] - centres[0], centres[-1] - centres[-2])
    edges = np.concatenate([[centres[0] - first / 2], between, [centres[-1] + last / 2]])
    return edges[:-1], np.diff(edges)
