"""The table of the functions that make payloads, by the names of payloads in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import get_args

from attnviz.trace.drawing import By
from attnviz.ui.lab import attributions, comparison_experiment, neighbours_experiment, perturbation_experiment, tree
from attnviz.ui.pages import lab_page, learns_page, transformer_page, why_page
from attnviz.ui.payloads import Maker
from attnviz.ui.step.step_makers import VIEW_MAKERS
from attnviz.ui.toolbar import downloads, open_lesson
from attnviz.ui.transformer import attention_row, five_models

MAKERS: Mapping[str, Maker] = {
    **VIEW_MAKERS,
    "translation-pictures": downloads.translation_pictures,
    "translation-file": downloads.translation_file,
    # Of the lab.
    **{
        f"attributions-{by}{size}": partial(attributions.attributions_payload, by, size)
        for by in get_args(By)
        for size in attributions.ATTRIBUTION_LAYOUTS
    },
    **{
        f"perturbation-tests{size}": partial(perturbation_experiment.perturbation_tests_payload, width)
        for size, width in perturbation_experiment.PERTURBATION_WIDTHS.items()
    },
    "shuffled": perturbation_experiment.shuffled_payload,
    "minimal-change": perturbation_experiment.minimal_change_payload,
    "neighbours": neighbours_experiment.neighbours_payload,
    "vector-map": neighbours_experiment.vector_map_payload,
    **{f"tree-{beam}": partial(tree.tree_payload, beam) for beam in tree.TREE_WIDTHS},
    **{f"hypotheses-{beam}": partial(tree.finished_hypotheses_payload, beam) for beam in tree.TREE_WIDTHS},
    "comparison": comparison_experiment.comparison_payload,
    "lab-pictures": lab_page.pictures_of_section,
    "lab-tables": lab_page.tables_of_section_payload,
    # Of the other pages.
    **why_page.WHY_MAKERS,
    "why-pictures": why_page.why_picture_files,
    "why-tables": why_page.why_tables_payload,
    "why-lecture": why_page.why_lecture,
    "attention-row": attention_row.forms_payload,
    "row-pictures": attention_row.row_picture_files,
    "models-verification": five_models.models_verification_payload,
    "exhibit-pictures": transformer_page.exhibit_pictures,
    "exhibit-tables": transformer_page.exhibit_tables_payload,
    "exhibit-lecture": transformer_page.exhibit_lecture,
    "learning-pictures": learns_page.learning_pictures,
    "learning-tables": learns_page.learning_tables,
    "learning-lecture": learns_page.learning_lecture,
    "lesson-page": open_lesson.lesson_page,
    "lesson-template": open_lesson.lesson_template,
}
