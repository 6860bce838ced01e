"""Functions that draw traces or make data frames of them, which implement `attnviz.trace.drawing.Drawing`."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from attnviz import export, figures
from attnviz.analysis.frames import links_frame, to_frame
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Aligned, BeamTree

__all__ = ["beam_tree", "heatmap", "links_frame", "step_figure", "table_html", "to_frame"]


def heatmap(trace: Aligned, **choices: Any) -> go.Figure:
    """Return the alignment as a figure, or what replaces it without attention; `choices` as for `figures.heatmap`."""
    return figures.translation_figure(trace, **choices)


def step_figure(trace: Aligned, step: int, picture: str, weights: Weights | None = None, **choices: Any) -> go.Figure:
    """Return the figure `picture` of 0-based `step`, a name from `figures.STEP_FIGURES`.

    Raise AttnvizError for another name, and where the figure needs the model's `weights` and they are not given.
    """
    subject = figures.Subject(trace, step, weights)
    return figures.step_figure(subject, picture).draw(subject, **choices)


def beam_tree(tree: BeamTree, **choices: Any) -> go.Figure:
    """Return a beam search as a tree; `choices` as for `figures.beam_tree_figure`."""
    return figures.beam_tree_figure(tree, **choices)


def table_html(trace: Aligned) -> str:
    """Return the alignment as an HTML table without scripts."""
    return export.heatmap_html(trace)
