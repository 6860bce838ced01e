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
from attnviz.figures.comparison_figure import compared_words_table, comparison, comparison_table
from attnviz.figures.heatmap import heatmap, heatmap_alt, heatmap_table
from attnviz.figures.perturbation_figure import minimal_change_figure, perturbation_tests_figure, shuffled_figure
from attnviz.figures.registry import FIGURES, StepFigure, step_figure, step_figures
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.figures.translation_figure import translation_figure, translation_table

__all__ = [
    "FIGURES",
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
    "compared_words_table",
    "comparison",
    "comparison_table",
    "heatmap",
    "heatmap_alt",
    "heatmap_table",
    "minimal_change_figure",
    "perturbation_tests_figure",
    "shuffled_figure",
    "step_figure",
    "step_figures",
    "translation_figure",
    "translation_table",
]
