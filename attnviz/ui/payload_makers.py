"""The functions that make the shared payloads of every page, by the payload names in addresses."""

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
from attnviz.ui.step import step_payloads
from attnviz.ui.transformer import attention_row, head_payloads, models_verification
from attnviz.ui.why.gradient_decay import share_payload, signals_payload
from attnviz.ui.why.growth import growth_chart_payload, growth_payload
from attnviz.ui.why.side_by_side import forced_payload

_LAB: Mapping[str, Maker] = {
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
_WHY: Mapping[str, Maker] = {
    "forced-words": forced_payload,
    "gradient-share": share_payload,
    "signals": signals_payload,
    "growing": growth_payload,
    "growing-chart": growth_chart_payload,
}
PAGES = (step_payloads.MAKERS, _LAB, _WHY, attention_row.MAKERS, head_payloads.MAKERS, models_verification.MAKERS)
"""The functions of each page; no two have a name in common."""
MAKERS: Mapping[str, Maker] = {name: maker for page in PAGES for name, maker in page.items()}
