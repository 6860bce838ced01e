"""The payloads of the lab by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import get_args

from attnviz.analysis.grid import By
from attnviz.ui.lab.attributions import SHAPES, answers_record
from attnviz.ui.lab.neighbours import neighbours_record, vector_map_record
from attnviz.ui.lab.perturbation_tests import SHAPES as TRIAL_WIDTHS
from attnviz.ui.lab.perturbation_tests import firmness_record, shuffled_record, trials_record
from attnviz.ui.lab.tree import WIDTHS, finished_record, tree_record
from attnviz.ui.shared_payloads import Maker

MAKERS: Mapping[str, Maker] = {
    **{f"answers-{by}{size}": partial(answers_record, by, size) for by in get_args(By) for size in SHAPES},
    **{f"trials{size}": partial(trials_record, width) for size, width in TRIAL_WIDTHS.items()},
    "shuffled": shuffled_record,
    "neighbours": neighbours_record,
    "vector-map": vector_map_record,
    "firmness": firmness_record,
    **{f"tree-{beam}": partial(tree_record, beam) for beam in WIDTHS},
    **{f"hypotheses-{beam}": partial(finished_record, beam) for beam in WIDTHS},
}
"""By the names in their addresses."""
