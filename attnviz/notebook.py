"""What a `Trace` shows of itself in a notebook: the methods of `attnviz.trace.drawing.Drawing`."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from attnviz import export, figures
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Aligned, BeamTree


def heatmap(trace: Aligned, **choices: Any) -> go.Figure:
    """Return the alignment, or without attention what there is instead; choices as those of `figures.heatmap`."""
    return figures.translation_figure(trace, **choices)


def step_figure(trace: Aligned, step: int, picture: str, weights: Weights | None = None, **choices: Any) -> go.Figure:
    """Return a picture of 0-based `step`, named as in `figures.STEP_FIGURES`; raise AttnvizError for another name, and
    where it needs the `weights` of the model that made the trace and they are not given."""
    subject = figures.Subject(trace, step, weights)
    return figures.step_figure(subject, picture).draw(subject, **choices)


def beam_tree(tree: BeamTree, **choices: Any) -> go.Figure:
    """Return a beam search as a tree; choices as those of `figures.beam_tree_figure`."""
    return figures.beam_tree_figure(tree, **choices)


def table_html(trace: Aligned) -> str:
    """Return the alignment as a table that needs no script."""
    return export.heatmap_html(trace)
