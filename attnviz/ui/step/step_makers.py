"""The table of the functions that make the payloads of a step view, by the names of payloads in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

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
from attnviz.ui.payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step import (
    compared_attention,
    diagram_panel,
    energy_decomposition_panel,
    gold_panel,
    heatmap_panel,
    intervention_controls,
    logit_attribution_panel,
    posterior_section,
    stage_panels,
    subject_boxes,
    tables_box,
    tour_panel,
    verification_badge,
    what_if_panel,
)


def _for_architecture(name: str, maker: Maker) -> Maker:
    """Return `maker` so that it raises UnknownPayloadError where the result has no payload or figure of this name."""
    figure = figure_named(name)

    def make(request: PayloadRequest) -> Any:
        if figure is None:
            is_available = name in architecture_of(request.trace).payloads
        else:
            is_available = not figure.missing(Subject(request.trace, 0, request.weights, parent=request.parent))
        if not is_available:
            raise UnknownPayloadError(name)
        return maker(request)

    return make


_OF_STEP: Mapping[str, Maker] = {
    **{figure.name: partial(stage_panels.figure_payload, figure.name) for figure in FIGURES if figure.stage},
    "facts": stage_panels.facts_payload,
    "verification": verification_badge.verification_payload,
    "foils": intervention_controls.other_words_payload,
    "tour": tour_panel.tour_stops_payload,
    "growth": stage_panels.running_sum_payload,
    "diagram": diagram_panel.step_diagram_payload,
    ENERGY_DECOMPOSITION.name: energy_decomposition_panel.cells_payload,
    POSTERIOR.name: posterior_section.posterior_payload,
    posterior_section.POSTERIOR_EQUATION: posterior_section.posterior_equation_payload,
    "weight_controls": intervention_controls.interventions_payload,
    CHANGED.name: what_if_panel.changed_payload,
    **{
        name: partial(logit_attribution_panel.logit_attribution_payload, name)
        for name in (LOGIT_ATTRIBUTION.name, CONTRAST.name)
    },
    **{f"equation-{stage}": partial(stage_panels.stage_equation_payload, stage) for stage in range(1, 6)},
}
STEP_MAKERS: Mapping[str, Maker] = {name: _for_architecture(name, maker) for name, maker in _OF_STEP.items()}
"""Those of the steps of a translation; each architecture declares the names that it has."""
VIEW_MAKERS: Mapping[str, Maker] = {
    **STEP_MAKERS,
    "heatmap": heatmap_panel.heatmap_payload,
    "compared": compared_attention.compared_payload,
    "gold-links": gold_panel.gold_links_payload,
    "links-of-attention": gold_panel.links_of_attention_payload,
    "links-of-pair": gold_panel.pair_links_file,
    "links-of-file": gold_panel.file_links_file,
    "word-boxes": subject_boxes.words_payload,
    "named-piece": subject_boxes.named_piece_payload,
    "consequence": intervention_controls.requested_consequence_payload,
    **{
        f"{name}-chosen": partial(logit_attribution_panel.chosen_payload, name)
        for name in (LOGIT_ATTRIBUTION.name, CONTRAST.name)
    },
    "chart-tables": tables_box.chart_tables_payload,
    "logit-attribution-tables": logit_attribution_panel.attribution_tables_payload,
    "energy-decomposition-tables": energy_decomposition_panel.units_payload,
}
"""Those of a step view."""
