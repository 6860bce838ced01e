"""The picture of a whole translation: its alignment, or what a model without attention has instead of one."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.grid import By
from attnviz.figures.fixed_context import fixed_context, fixed_context_table
from attnviz.figures.heatmap import heatmap
from attnviz.figures.heatmap_table import heatmap_table
from attnviz.palette import Colours, ThemeName
from attnviz.trace import Trace


def translation_figure(
    trace: Trace,
    *,
    by: By = "words",
    colours: Colours = "paper",
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    theme: ThemeName = "light",
) -> go.Figure:
    """Return the heatmap; without attention, where every weight would be that of the last source piece, the picture of
    the one vector instead, to which `colours`, `root` and `margins` mean nothing. Choices as those of `heatmap`."""
    if trace.attends:
        return heatmap(
            trace, by=by, colours=colours, root=root, end=end, margins=margins, step=step, theme=theme
        )  # fmt: skip
    return fixed_context(trace, by=by, end=end, step=step, theme=theme)


def translation_table(trace: Trace, *, by: By = "words", end: bool = True, margins: bool = False) -> pd.DataFrame:
    """Return the numbers of `translation_figure`."""
    if trace.attends:
        return heatmap_table(trace, by=by, end=end, margins=margins)
    return fixed_context_table(trace)
