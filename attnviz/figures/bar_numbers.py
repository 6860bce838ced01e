"""Template and values of the numbers at the ends of horizontal bars.

They are a trace of their own: Plotly measures the text of bars at every drawing, which takes most of its time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.figures.build import Spec
from attnviz.figures.template import Slot, Values
from attnviz.palette import Palette


def numbers(size: int, ink: Palette, prefix: str = "number") -> Spec:
    """Return the template of numbers beside the ends of bars at 0, 1, 2 ...; `number_values` fills it.

    `prefix` begins the names of the slots, for figures with several groups of bars.
    """
    return {
        "type": "scatter",
        "mode": "text",
        "x": Slot(f"{prefix}_x"),
        "y": Slot(f"{prefix}_y"),
        "text": Slot(f"{prefix}_text"),
        "textposition": Slot(f"{prefix}_side", ("middle right", "middle left")),
        "cliponaxis": False,
        "textfont": {"size": size, "color": ink.ink},
        "hoverinfo": "skip",
    }


def number_values(
    ends: NDArray[np.floating], texts: list[str], on_left: Sequence[bool] | None = None, prefix: str = "number"
) -> Values:
    """Return `texts` at the `ends` of bars, (n,) each, outside of the bars.

    They are on the left where the end is negative, or where `on_left`.
    """
    sides = ends < 0 if on_left is None else on_left
    return {
        f"{prefix}_x": ends,
        f"{prefix}_y": list(range(len(ends))),
        f"{prefix}_text": texts,
        f"{prefix}_side": [int(side) for side in sides],
    }
