"""Templates of waterfall charts, in which each row begins where the last ended, with the sum in the last row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.figures.bar_numbers import number_values, numbers
from attnviz.figures.build import Spec, base_axis, base_layout
from attnviz.figures.template import Slot, Values
from attnviz.palette import Palette
from attnviz.wording.numbers import signed

ROW_HEIGHT = 21
"""Height of a row in pixels."""


def waterfall(ink: Palette) -> list[Spec]:
    """Return the template of a waterfall with the sum in the last row; `waterfall_values` fills it.

    The number of each row is beside the end of its bar.
    """
    bars = {
        "type": "waterfall",
        "orientation": "h",
        "name": "sum",
        "y": Slot("rows"),
        "x": Slot("amounts"),
        "measure": Slot("measure", ("relative", "total")),
        "increasing": {"marker": {"color": ink.plus}},
        "decreasing": {"marker": {"color": ink.minus}},
        # Not violet, which looks like the blue of a plus with protanopia.
        "totals": {"marker": {"color": ink.ink}},
        "connector": {"line": {"color": ink.line, "width": 1}},
        "customdata": Slot("hover"),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    return [bars, numbers(12, ink) | {"name": "numbers"}]


def waterfall_values(values: Sequence[float], hover: Sequence[str]) -> Values:
    """Return the values of a `waterfall` of `values`; `hover` has a text for each of them and for the sum."""
    amounts = [*map(float, values), float(np.sum(values))]
    ends = np.append(np.cumsum(values), amounts[-1])
    texts = [f" {signed(amount)} " for amount in amounts]
    return {
        "amounts": amounts,
        "measure": [0] * len(values) + [1],
        "hover": list(hover),
    } | number_values(ends, texts, [amount < 0 for amount in amounts])


def sum_range(values: Sequence[float]) -> list[float]:
    """Return the range of an axis for all running sums of `values`, with space for the numbers."""
    ends = np.concatenate([[0.0], np.cumsum(values)])
    low, high = float(ends.min()), float(ends.max())
    padding = 0.2 * (high - low or 1.0)
    return [low - padding, high + padding]


def rows_layout(left: int, ink: Palette) -> Spec:
    """Return the layout of a figure with a row for each label; `rows_values` fills it."""
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    return base_layout(ink) | {
        "height": Slot("height"),
        "margin": {"l": left, "r": 8, "t": 40, "b": 8},
        "bargap": 0.3,
        "yaxis": axis
        | {
            "range": [Slot("lowest"), -0.6],
            "tickvals": Slot("rows"),
            "ticktext": Slot("labels"),
            "tickfont": {"size": 12, "color": ink.ink},
            "anchor": "free",
            "position": 0,
            "ticklabelstandoff": 6,
        },
        # A line above the sum.
        "shapes": [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": Slot("rule"),
                "y1": Slot("rule"),
                "line": {"color": ink.quiet, "width": 1},
            }
        ],
    }


def rows_values(labels: Sequence[str]) -> Values:
    """Return the values of a `rows_layout` with these `labels`, which are not escaped."""
    count = len(labels)
    return {
        "height": ROW_HEIGHT * count + 48,
        "lowest": count - 0.4,
        "rule": count - 1.5,
        "rows": list(range(count)),
        "labels": list(labels),
    }


def panel(ink: Palette, domain: Sequence[float], title: str) -> Spec:
    """Return the top axis of one of several panels that share their rows."""
    return base_axis(ink) | {
        "side": "top",
        "domain": list(domain),
        "zerolinecolor": ink.quiet,
        "anchor": "y",
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }
