"""The functions that make the shared payloads of every page, by the payload names in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from attnviz.architectures import architecture_of
from attnviz.figures.registry import (
    CHANGED,
    CONTRAST,
    ENERGY_DECOMPOSITION,
    FIGURES,
    LOGIT_ATTRIBUTION,
    POSTERIOR,
    figure_named,
)
from attnviz.figures.subject import Subject
from attnviz.trace.drawing import By
from attnviz.ui.lab.attributions import ATTRIBUTION_LAYOUTS, attributions_payload
from attnviz.ui.lab.neighbours_experiment import neighbours_payload, vector_map_payload
from attnviz.ui.lab.perturbation_experiment import PERTURBATION_WIDTHS as PERTURBATION_TEST_WIDTHS
from attnviz.ui.lab.perturbation_experiment import minimal_change_payload, perturbation_tests_payload, shuffled_payload
from attnviz.ui.lab.tree import TREE_WIDTHS, finished_hypotheses_payload, tree_payload
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step.diagram_panel import step_diagram_payload
from attnviz.ui.step.energy_decomposition_panel import cells_payload
from attnviz.ui.step.intervention_controls import interventions_payload, other_words_payload
from attnviz.ui.step.logit_attribution_panel import logit_attribution_payload
from attnviz.ui.step.posterior_section import (
    POSTERIOR_EQUATION,
    posterior_equation_payload,
    posterior_payload,
)
from attnviz.ui.step.stage_panels import facts_payload, figure_payload, running_sum_payload, stage_equation_payload
from attnviz.ui.step.tour_panel import tour_stops_payload
from attnviz.ui.step.verification_badge import verification_payload
from attnviz.ui.step.what_if_panel import changed_payload
from attnviz.ui.transformer import attention_row, five_models
from attnviz.ui.why.gradient_decay_section import share_payload, signals_payload
from attnviz.ui.why.parallel_section import forced_payload
from attnviz.ui.why.sentence_length_section import growth_chart_payload, length_growth_payload


def _for_architecture(name: str, maker: Maker) -> Maker:
    """Return `maker` so that it raises UnknownPayloadError where the result has no payload or figure of this name."""
    figure = figure_named(name)

    def make(request: PayloadRequest) -> Mapping[str, Any]:
        if figure is None:
            is_available = name in architecture_of(request.trace).payloads
        else:
            is_available = not figure.missing(Subject(request.trace, 0, request.weights, parent=request.parent))
        if not is_available:
            raise UnknownPayloadError(name)
        return maker(request)

    return make


_MAKERS: Mapping[str, Maker] = {
    **{figure.name: partial(figure_payload, figure.name) for figure in FIGURES if figure.stage},
    "facts": facts_payload,
    "verification": verification_payload,
    "foils": other_words_payload,
    "tour": tour_stops_payload,
    "growth": running_sum_payload,
    "diagram": step_diagram_payload,
    ENERGY_DECOMPOSITION.name: cells_payload,
    POSTERIOR.name: posterior_payload,
    POSTERIOR_EQUATION: posterior_equation_payload,
    "weight_controls": interventions_payload,
    CHANGED.name: changed_payload,
    LOGIT_ATTRIBUTION.name: partial(logit_attribution_payload, LOGIT_ATTRIBUTION.name),
    CONTRAST.name: partial(logit_attribution_payload, CONTRAST.name),
    **{f"equation-{stage}": partial(stage_equation_payload, stage) for stage in range(1, 6)},
}
STEP_MAKERS: Mapping[str, Maker] = {name: _for_architecture(name, maker) for name, maker in _MAKERS.items()}
"""Functions that make payloads, by the names in their addresses; each architecture declares the names that it has."""


_LAB: Mapping[str, Maker] = {
    **{
        f"attributions-{by}{size}": partial(attributions_payload, by, size)
        for by in get_args(By)
        for size in ATTRIBUTION_LAYOUTS
    },
    **{
        f"perturbation-tests{size}": partial(perturbation_tests_payload, width)
        for size, width in PERTURBATION_TEST_WIDTHS.items()
    },
    "shuffled": shuffled_payload,
    "neighbours": neighbours_payload,
    "vector-map": vector_map_payload,
    "minimal-change": minimal_change_payload,
    **{f"tree-{beam}": partial(tree_payload, beam) for beam in TREE_WIDTHS},
    **{f"hypotheses-{beam}": partial(finished_hypotheses_payload, beam) for beam in TREE_WIDTHS},
}
_WHY: Mapping[str, Maker] = {
    "forced-words": forced_payload,
    "gradient-share": share_payload,
    "signals": signals_payload,
    "growing": length_growth_payload,
    "growing-chart": growth_chart_payload,
}
PAGES = (STEP_MAKERS, _LAB, _WHY, attention_row.ATTENTION_ROW_MAKERS, five_models.FIVE_MODELS_MAKERS)
"""The functions of each page; no two have a name in common."""
MAKERS: Mapping[str, Maker] = {name: maker for page in PAGES for name, maker in page.items()}
