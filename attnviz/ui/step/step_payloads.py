"""The payloads of the step view by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attnviz.architectures import architecture_of, told
from attnviz.ui.components.context_growth.context_growth import growth_record, values_record
from attnviz.ui.components.step_summary.step_summary import summary_record
from attnviz.ui.shared_payloads import Asked, Maker, UnknownRecordError
from attnviz.ui.step import idea
from attnviz.ui.step.context_units import NAME as UNITS
from attnviz.ui.step.context_units import context_units_record
from attnviz.ui.step.diagram import drawing_record
from attnviz.ui.step.energy_decomposition import cell_record
from attnviz.ui.step.intervention_controls import changes_record, other_words_record
from attnviz.ui.step.logit_attribution import ledger_record
from attnviz.ui.step.posterior_section import EQUATION, PICTURE, after_equation_record, posterior_record
from attnviz.ui.step.stages import equation_record, narration, picture_record, sentences_of
from attnviz.ui.step.tour import tour_stops_record
from attnviz.ui.step.verification_badge import proof_record
from attnviz.ui.step.what_changed import changed_record


def _facts(asked: Asked) -> dict[str, Any]:
    return summary_record(asked.trace, narration(asked.trace, asked.steps), told(asked.trace).step_sentence)


def _growth(asked: Asked) -> dict[str, Any]:
    return growth_record(asked.trace, sentences_of(asked.trace, 3, asked.steps), asked.theme)


def _values(asked: Asked) -> dict[str, Any]:
    return values_record(asked.trace, sentences_of(asked.trace, 3, asked.steps), asked.theme)


def _checked(name: str, maker: Maker) -> Maker:
    """Return `maker` so that it raises UnknownRecordError where the architecture has no payload of this name."""

    def make(asked: Asked) -> Mapping[str, Any]:
        if name not in architecture_of(asked.trace).payloads:
            raise UnknownRecordError(name)
        return maker(asked)

    return make


_PICTURES = ("look", "energy", "softmax", "candidates", "state", "context", "maxout", "scores", "weights", "stream")
_MAKERS: Mapping[str, Maker] = {
    "facts": _facts,
    "proof": proof_record,
    "rivals": other_words_record,
    "tour": tour_stops_record,
    "growth": _growth,
    "values": _values,
    UNITS: context_units_record,
    "machine": drawing_record,
    "microscope": cell_record,
    PICTURE: posterior_record,
    EQUATION: after_equation_record,
    "bench": changes_record,
    "changed": changed_record,
    "word": partial(picture_record, "candidates", stage=5),
    **{name: partial(picture_record, name) for name in _PICTURES},
    **{name: partial(ledger_record, name) for name in ("ledger", "contrast")},
    **{f"equation-{stage}": partial(equation_record, stage) for stage in range(1, 6)},
    **idea.MAKERS,
}
MAKERS: Mapping[str, Maker] = {name: _checked(name, maker) for name, maker in _MAKERS.items()}
"""By the names in their addresses; the declaration of each architecture lists those that it has."""
