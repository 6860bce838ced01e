"""Figures of a trace: pure functions from a `Trace` to a Plotly figure, a table or LaTeX. No Streamlit in here."""

from attnviz.figures.alignment import heatmap, heatmap_alt, heatmap_table
from attnviz.figures.equations import Equation, equations
from attnviz.figures.files import Look, save
from attnviz.figures.html import lecture_html
from attnviz.figures.plain import heatmap_html
from attnviz.figures.registry import STEP_FIGURES, StepFigure, step_figure, step_figures
from attnviz.figures.step import (
    attention_bars,
    attention_table,
    candidates,
    candidates_table,
    context_strips,
    context_table,
)
from attnviz.figures.tikz import heatmap_tikz

__all__ = [
    "STEP_FIGURES",
    "Equation",
    "Look",
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
    "heatmap_html",
    "heatmap_table",
    "heatmap_tikz",
    "lecture_html",
    "save",
    "step_figure",
    "step_figures",
]
