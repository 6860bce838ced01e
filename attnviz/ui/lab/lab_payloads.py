"""Table of the functions that make the payloads of the page *Lab*, by payload name; used by the server's endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import get_args

from attnviz.analysis.grid import By
from attnviz.ui.lab.attributions import LAYOUTS, attributions_payload
from attnviz.ui.lab.neighbours import neighbours_payload, vector_map_payload
from attnviz.ui.lab.perturbation_tests import WIDTHS as PERTURBATION_TEST_WIDTHS
from attnviz.ui.lab.perturbation_tests import minimal_change_payload, perturbation_tests_payload, shuffled_payload
from attnviz.ui.lab.tree import WIDTHS, finished_hypotheses_payload, tree_payload
from attnviz.ui.shared_payloads import Maker

MAKERS: Mapping[str, Maker] = {
    **{f"attributions-{by}{size}": partial(attributions_payload, by, size) for by in get_args(By) for size in LAYOUTS},
    **{
        f"perturbation-tests{size}": partial(perturbation_tests_payload, width)
        for size, width in PERTURBATION_TEST_WIDTHS.items()
    },
    "shuffled": shuffled_payload,
    "neighbours": neighbours_payload,
    "vector-map": vector_map_payload,
    "minimal-change": minimal_change_payload,
    **{f"tree-{beam}": partial(tree_payload, beam) for beam in WIDTHS},
    **{f"hypotheses-{beam}": partial(finished_hypotheses_payload, beam) for beam in WIDTHS},
}
"""By the payload names in addresses."""
