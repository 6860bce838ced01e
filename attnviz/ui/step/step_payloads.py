"""Table of the step view's payloads: the name in the address, and the function that makes each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attnviz.architectures import architecture_of, step_texts
from attnviz.ui.components.context_growth import growth_payload, values_payload
from attnviz.ui.components.step_summary import summary_payload
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step import idea
from attnviz.ui.step.diagram import step_diagram_payload
from attnviz.ui.step.energy_decomposition import cells_payload
from attnviz.ui.step.intervention_controls import interventions_payload, other_words_payload
from attnviz.ui.step.logit_attribution import logit_attribution_payload
from attnviz.ui.step.posterior_section import (
    POSTERIOR_EQUATION,
    POSTERIOR_FIGURE,
    posterior_equation_payload,
    posterior_payload,
)
from attnviz.ui.step.stages import (
    CONTEXT_UNITS,
    context_units_payload,
    equation_payload,
    narration,
    picture_payload,
    sentences_of,
)
from attnviz.ui.step.tour import tour_stops_payload
from attnviz.ui.step.verification_badge import verification_payload
from attnviz.ui.step.what_changed import changed_payload


def _facts(request: PayloadRequest) -> dict[str, Any]:
    return summary_payload(
        request.trace, narration(request.trace, request.steps), step_texts(request.trace).step_sentence
    )


def _growth(request: PayloadRequest) -> dict[str, Any]:
    return growth_payload(request.trace, sentences_of(request.trace, 3, request.steps), request.theme)


def _values(request: PayloadRequest) -> dict[str, Any]:
    return values_payload(request.trace, sentences_of(request.trace, 3, request.steps), request.theme)


def _for_architecture(name: str, maker: Maker) -> Maker:
    """Return `maker` so that it raises UnknownPayloadError where the architecture has no payload of this name."""

    def make(request: PayloadRequest) -> Mapping[str, Any]:
        if name not in architecture_of(request.trace).payloads:
            raise UnknownPayloadError(name)
        return maker(request)

    return make


_FIGURES = ("look", "energy", "softmax", "candidates", "state", "context", "maxout", "scores", "weights", "stream")
_MAKERS: Mapping[str, Maker] = {
    "facts": _facts,
    "verification": verification_payload,
    "foils": other_words_payload,
    "tour": partial(tour_stops_payload, posterior=True),
    "tour-idea": partial(tour_stops_payload, posterior=False),
    "growth": _growth,
    "values": _values,
    CONTEXT_UNITS: context_units_payload,
    "diagram": step_diagram_payload,
    "energy-decomposition": cells_payload,
    POSTERIOR_FIGURE: posterior_payload,
    POSTERIOR_EQUATION: posterior_equation_payload,
    "weight_controls": interventions_payload,
    "changed": changed_payload,
    "word": partial(picture_payload, "candidates", stage=5),
    **{name: partial(picture_payload, name) for name in _FIGURES},
    **{name: partial(logit_attribution_payload, name) for name in ("logit-attribution", "contrast")},
    **{f"equation-{stage}": partial(equation_payload, stage) for stage in range(1, 6)},
    **idea.MAKERS,
}
MAKERS: Mapping[str, Maker] = {name: _for_architecture(name, maker) for name, maker in _MAKERS.items()}
"""Functions that make payloads, by the names in their addresses; each architecture declares the names that it has."""
