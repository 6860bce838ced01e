"""Figures of translations, training runs and corpora: pure functions that return Plotly figures and tables.

They do not use Streamlit. The names exported here are those for a trace.
"""

from attnviz.figures.beam_tree_figure import beam_tree
from attnviz.figures.heatmap import heatmap
from attnviz.figures.perturbation_figure import minimal_change_figure, perturbation_tests_figure, shuffled_figure
from attnviz.figures.registry import FIGURES, StepFigure, step_figure, step_figures
from attnviz.figures.side_by_side_figure import agreement_table, attributions, compared_words_table, comparison
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
    "attributions",
    "beam_tree",
    "compared_words_table",
    "comparison",
    "heatmap",
    "minimal_change_figure",
    "perturbation_tests_figure",
    "shuffled_figure",
    "step_figure",
    "step_figures",
]
