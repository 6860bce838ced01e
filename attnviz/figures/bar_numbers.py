"""Numbers at the ends of horizontal bars.

They are a trace of their own: Plotly measures the text of bars at every drawing, which takes most of its time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.figures.build import Spec
from attnviz.figures.template import Slot, Values
from attnviz.palette import Palette


def numbers(size: int, ink: Palette, of: str = "number") -> Spec:
    """Return the template of numbers beside the ends of bars at 0, 1, 2 ...; `number_values` fills it.

    `of` names the slots, for figures with several.
    """
    return {
        "type": "scatter",
        "mode": "text",
        "x": Slot(f"{of}_x"),
        "y": Slot(f"{of}_y"),
        "text": Slot(f"{of}_text"),
        "textposition": Slot(f"{of}_side", ("middle right", "middle left")),
        "cliponaxis": False,
        "textfont": {"size": size, "color": ink.ink},
        "hoverinfo": "skip",
    }


def number_values(
    ends: NDArray[np.floating], texts: list[str], left: Sequence[bool] | None = None, of: str = "number"
) -> Values:
    """Return `texts` at the `ends` of bars, (n,) each, outside of the bars.

    They are on the left where the end is negative, or where `left` says so.
    """
    sides = ends < 0 if left is None else left
    return {
        f"{of}_x": ends,
        f"{of}_y": list(range(len(ends))),
        f"{of}_text": texts,
        f"{of}_side": [int(side) for side in sides],
    }
