"""Sums as waterfalls: each row begins where the last ended, and the sum stands below, as ledger and microscope show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.figures.build import Spec, base_axis, base_layout, numbers
from attnviz.palette import Palette
from attnviz.wording.numbers import signed

ROW = 21
"""Pixels of a row of a waterfall."""


def waterfall(values: Sequence[float], hover: Sequence[str], ink: Palette) -> Spec:
    """Return `values` one under another, each from where the last ended, and their sum in the row below; `hover` has a
    text for each of them and for the sum."""
    amounts = [*map(float, values), float(np.sum(values))]
    return {
        "type": "waterfall", "orientation": "h", "name": "sum", "y": list(range(len(amounts))), "x": amounts,
        "measure": ["relative"] * len(values) + ["total"],
        "increasing": {"marker": {"color": ink.plus}}, "decreasing": {"marker": {"color": ink.minus}},
        # Not violet, which those who cannot see red take for the blue of a plus.
        "totals": {"marker": {"color": ink.ink}}, "connector": {"line": {"color": ink.line, "width": 1}},
        "customdata": list(hover),
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip


def written(values: Sequence[float], ink: Palette) -> Spec:
    """Return the numbers of a `waterfall`, each beside the end of its bar; as a trace of its own, see `numbers`."""
    amounts = [*map(float, values), float(np.sum(values))]
    ends = np.append(np.cumsum(values), amounts[-1])
    sides = ["middle left" if amount < 0 else "middle right" for amount in amounts]
    texts = [f" {signed(amount)} " for amount in amounts]
    return numbers(ends, texts, 12, ink) | {"name": "numbers", "textposition": sides}


def sum_range(values: Sequence[float]) -> list[float]:
    """Return the range of an axis that holds every running sum of `values`, with room for the numbers beside."""
    ends = np.concatenate([[0.0], np.cumsum(values)])
    low, high = float(ends.min()), float(ends.max())
    room = 0.2 * (high - low or 1.0)
    return [low - room, high + room]


def rows_layout(labels: Sequence[str], left: int, ink: Palette) -> Spec:
    """Return the layout of a figure with one row for each of `labels`, which are drawn as they are."""
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    count = len(labels)
    return base_layout(ink) | {
        "height": ROW * count + 48, "margin": {"l": left, "r": 8, "t": 40, "b": 8}, "bargap": 0.3,
        "yaxis": axis | {
            "range": [count - 0.4, -0.6], "tickvals": list(range(count)), "ticktext": list(labels),
            "tickfont": {"size": 12, "color": ink.ink}, "anchor": "free", "position": 0,
            "ticklabelstandoff": 6,
        },
        # A rule above the sum, as on paper.
        "shapes": [{
            "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": count - 1.5, "y1": count - 1.5,
            "line": {"color": ink.quiet, "width": 1},
        }],
    }  # fmt: skip


def panel(ink: Palette, domain: Sequence[float], title: str) -> Spec:
    """Return an axis on top of one of several panels that share their rows."""
    return base_axis(ink) | {
        "side": "top", "domain": list(domain), "zerolinecolor": ink.quiet, "anchor": "y",
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }  # fmt: skip
