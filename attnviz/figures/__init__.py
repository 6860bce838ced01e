"""Figures of translations, training runs and corpora: pure functions that return Plotly figures and tables.

They do not use Streamlit. The names exported here are those for a trace.
"""

from attnviz.figures.attribution_figure import (
    agreement_table,
    all_attributions_table,
    attribution_table,
    attributions_figure,
    attributions_table,
)
from attnviz.figures.beam_tree_figure import beam_tree_figure, beam_tree_table
from attnviz.figures.candidates import candidates, candidates_table
from attnviz.figures.comparison_figure import compared_words_table, comparison, comparison_table
from attnviz.figures.context import context_strips, context_table
from attnviz.figures.heatmap import heatmap
from attnviz.figures.minimal_change_figure import minimal_change_figure, minimal_change_table
from attnviz.figures.perturbation_figure import (
    perturbation_tests_figure,
    perturbation_tests_table,
    shuffled_figure,
    shuffled_table,
)
from attnviz.figures.registry import FIGURES, StepFigure, step_figure, step_figures
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.trace.drawing import HeatmapChoices

__all__ = [
    "FIGURES",
    "HeatmapChoices",
    "Spec",
    "StepFigure",
    "Subject",
    "agreement_table",
    "all_attributions_table",
    "attribution_table",
    "attributions_figure",
    "attributions_table",
    "beam_tree_figure",
    "beam_tree_table",
    "candidates",
    "candidates_table",
    "compared_words_table",
    "comparison",
    "comparison_table",
    "context_strips",
    "context_table",
    "heatmap",
    "minimal_change_figure",
    "minimal_change_table",
    "perturbation_tests_figure",
    "perturbation_tests_table",
    "shuffled_figure",
    "shuffled_table",
    "step_figure",
    "step_figures",
]
