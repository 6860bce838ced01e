"""Separator lines and captions of strips of units (heatmaps with a column for each unit of a vector)."""

from __future__ import annotations

from collections.abc import Iterable

from attnviz.figures.build import Spec
from attnviz.palette import Palette


def strip_separators(places: Iterable[float], width: int, ink: Palette, first: float = -0.5) -> list[Spec]:
    """Return thin lines in the background colour below the strips at `places`, which separate them."""
    line = {"color": ink.paper, "width": 3}
    return [
        {"type": "line", "x0": first, "x1": first + width, "y0": y + 0.5, "y1": y + 0.5, "line": line} for y in places
    ]


def strip_caption(text: str, x: int, ink: Palette) -> Spec:
    """Return a caption above the strips, at their left (0) or right (1) end."""
    return {
        "text": text,
        "x": x,
        "xref": "paper",
        "xanchor": "right" if x else "left",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": ink.quiet},
    }
