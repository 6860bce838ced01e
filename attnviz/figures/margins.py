"""The margins of the heatmap: how much each column was looked at in all, and how widely each row looked."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.grid import Grid
from attnviz.figures.build import Spec, base_axis, rectangle
from attnviz.figures.labels import literal
from attnviz.languages import say
from attnviz.palette import Palette
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal

SEAM = "#3b3935"
"""Between cells: dark enough not to pass for weight, light enough to tell two black cells apart."""

_BELOW, _GAP, _SHARE = 44, 8, 0.87
"""Of the margins: pixels of the bars below the heatmap, pixels between, the share of the width left to the heatmap."""


def margin_bars(cells: Grid, positions: int, ink: Palette) -> list[Spec]:
    """Return the bars of the margins: `y2` hangs below the columns, `x2` stands right of the rows."""
    sums = [
        say("{name}: looked at {amount:.2f} times in all (Σ α over the rows)",
            name=literal(shorten(name, 60)), amount=amount)
        for name, amount in zip(cells.source, cells.covered, strict=True)
    ]  # fmt: skip
    spreads = [
        say("{name}: entropy H = {bits:.2f} of at most {most:.2f} bits, as if it looked at {count:.1f} pieces alike",
            name=literal(shorten(name, 60)), bits=bits, most=np.log2(positions), count=2**bits)
        + (say("<br>mean of its {count} pieces", count=len(steps)) if len(steps) > 1 else "")
        for name, bits, steps in zip(cells.target, cells.entropies, cells.steps, strict=True)
    ]  # fmt: skip
    bar = {"type": "bar", "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar | {"name": "coverage", "x": list(range(len(sums))), "y": cells.covered.tolist(), "yaxis": "y2",
               "customdata": sums, "marker": {"color": ink.encoder}},
        bar | {"name": "entropy", "orientation": "h", "x": cells.entropies.tolist(), "y": list(range(len(spreads))),
               "xaxis": "x2", "customdata": spreads, "marker": {"color": ink.decoder}},
    ]  # fmt: skip


def make_room(layout: Spec, cells: Grid, positions: int, ink: Palette) -> None:
    """Move the heatmap of `layout` up and to the left, and put the axes of the margins' bars in the room this wins."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BELOW + _GAP) / (inner + _BELOW + _GAP)
    layout["height"] += _BELOW + _GAP
    for bound in ("narrowest", "widest"):
        layout["meta"][bound] = round(layout["meta"][bound] / _SHARE)
    layout["xaxis"]["domain"], layout["yaxis"]["domain"] = [0, _SHARE], [bottom, 1]
    most, largest = float(cells.covered.max()), float(np.log2(positions)) or 1.0
    axis = base_axis(ink) | {"showgrid": False, "zeroline": True}
    title = {"font": {"size": 11, "color": ink.quiet}, "standoff": 3}
    layout["yaxis2"] = axis | {
        "domain": [0, bottom * _BELOW / (_BELOW + _GAP)], "range": [most * 1.04, 0], "anchor": "x",
        "tickvals": [0, most], "ticktext": ["Σ α  0", decimal(most, 1)],
    }  # fmt: skip
    layout["xaxis2"] = axis | {
        "domain": [_SHARE + 0.02, 1], "range": [0, largest], "anchor": "y", "side": "bottom",
        "tickvals": [0, largest], "ticktext": ["0", decimal(largest, 1)], "title": title | {"text": say("H, bits")},
    }  # fmt: skip
    layout["xaxis"]["anchor"], layout["bargap"] = "y", 0.25
    # A background belongs to every panel of a figure; that between the cells must be the heatmap's alone.
    rows, columns = cells.alpha.shape
    seam = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, SEAM, 0) | {"fillcolor": SEAM, "layer": "below"}
    layout["plot_bgcolor"], layout["shapes"] = "rgba(0,0,0,0)", [seam]
