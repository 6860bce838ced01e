"""Numbers at the ends of horizontal bars.

As a trace of its own: text of a bar is measured at every drawing, which takes longer than all else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.figures.build import Spec
from attnviz.figures.template import Slot, Values
from attnviz.palette import Palette


def numbers(size: int, ink: Palette, name: str = "numbers") -> Spec:
    """Return the template of numbers beside the ends of bars at 0, 1, 2 ...; `number_values` of this name fill it."""
    return {
        "type": "scatter", "mode": "text", "name": name, "x": Slot(f"{name} x"), "y": Slot(f"{name} y"),
        "text": Slot(f"{name} text"), "textposition": Slot(f"{name} side", ("middle right", "middle left")),
        "cliponaxis": False, "textfont": {"size": size, "color": ink.ink}, "hoverinfo": "skip",
    }  # fmt: skip


def number_values(
    ends: NDArray[np.floating], texts: list[str], left: Sequence[bool] | None = None, name: str = "numbers"
) -> Values:
    """Return `texts` at the `ends` of bars, (n,) of either, each outside of its bar: on the left where it is negative,
    or where `left` says so."""
    sides = ends < 0 if left is None else left
    return {
        f"{name} x": ends, f"{name} y": list(range(len(ends))), f"{name} text": texts,
        f"{name} side": [int(side) for side in sides],
    }  # fmt: skip
