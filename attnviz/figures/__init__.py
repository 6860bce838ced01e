"""Figures of a trace: pure functions from a `Trace` to a Plotly figure, a table or LaTeX. No Streamlit in here."""

from attnviz.figures.alignment import heatmap, heatmap_alt, heatmap_table
from attnviz.figures.equations import Equation, equations
from attnviz.figures.registry import STEP_FIGURES, StepFigure, step_figure, step_figures
from attnviz.figures.step import (
    attention_bars,
    attention_table,
    candidates,
    candidates_table,
    context_strips,
    context_table,
)

__all__ = [
    "STEP_FIGURES",
    "Equation",
    "StepFigure",
    "attention_bars",
    "attention_table",
    "candidates",
    "candidates_table",
    "context_strips",
    "context_table",
    "equations",
    "heatmap",
    "heatmap_alt",
    "heatmap_table",
    "step_figure",
    "step_figures",
]
