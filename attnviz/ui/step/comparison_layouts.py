"""Draw the figure that compares two heatmaps for windows of several widths."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz.analysis.comparison import Comparison, Side
from attnviz.figures.comparison import comparison
from attnviz.palette import ThemeName
from attnviz.ui.page_state.selection import HeatmapChoices

_LAYOUTS = {4: 1380, 2: 900, 1: 390}
"""Panels side by side, and the width in pixels they are laid out for, the widest first."""


def comparison_layouts(
    compared: Comparison, names: tuple[str, str], choices: HeatmapChoices, theme: ThemeName, leads: Side = "first"
) -> list[go.Figure]:
    """Return the figure in each layout, the widest first."""
    return [
        comparison(
            compared,
            names,
            end=choices.end,
            root=choices.root,
            colours=choices.colours,
            across=across,
            width=width,
            leads=leads,
            theme=theme,
        )
        for across, width in _LAYOUTS.items()
    ]
