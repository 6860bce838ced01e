"""The payloads of an opened head by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.heads import OpenHead, named_head
from attnviz.analysis.verification import Verification
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.ui.components.chart.chart import AtStep, chart_payload
from attnviz.ui.components.context_growth.context_growth import values_payload
from attnviz.ui.components.energy_decomposition.energy_decomposition import head_payload
from attnviz.ui.components.equation.equation import equation_payload
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step.verification_badge import badge_payload, misfit_payload, verifier_for
from attnviz.wording.opened_head import STAGES, look_sentences
from attnviz.wording.transformer_equations import (
    head_texts_of_cells,
    head_texts_of_source,
    opened_equations,
    opened_texts_of_step,
)

_STAGES_OF = {"scores": 1, "weights": 2, "stream": 4}


def _opened(asked: PayloadRequest) -> OpenHead:
    """Return the requested head; raise UnknownPayloadError where there is none."""
    opened = named_head(asked.trace, asked.part) if asked.trace.has_heads else None
    if opened is None:
        raise UnknownPayloadError(asked.part)
    return opened


def _rows(opened: OpenHead) -> range:
    return range(len(opened.target_pieces))


def _picture(name: str, asked: PayloadRequest) -> dict[str, Any]:
    opened, picture = _opened(asked), STEP_FIGURES[name].picture
    subjects = [Subject(opened, row) for row in _rows(opened)]
    told = {row: look_sentences(opened, row)[_STAGES_OF[name]] for row in _rows(opened)}
    return chart_payload(
        to_json(picture.template(subjects[0], asked.theme)),
        {one.step: AtStep(to_json(picture.values(one, asked.theme)), "", told[one.step]) for one in subjects},
    )


def _values(asked: PayloadRequest) -> dict[str, Any]:
    opened = _opened(asked)
    return values_payload(opened, {row: look_sentences(opened, row)[3] for row in _rows(opened)}, asked.theme)


def _products(asked: PayloadRequest) -> dict[str, Any]:
    return head_payload(_opened(asked), asked.theme)


def _equation(stage: int, asked: PayloadRequest) -> dict[str, Any]:
    opened = _opened(asked)
    template = next(one for one in opened_equations(opened, asked.theme) if one.stage == stage)
    rows = _rows(opened)
    return equation_payload(
        template,
        list(rows),
        [opened_texts_of_step(opened, row, asked.theme) for row in rows],
        [head_texts_of_source(opened, column) for column in range(len(opened.source_pieces))],
        [head_texts_of_cells(opened, row) for row in rows],
    )


def _verification(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of the opened head's kind of attention, and of its residual stream."""
    opened, (step, *others) = _opened(asked), asked.steps
    if asked.weights is None or others:
        raise UnknownPayloadError("open-verification")
    try:
        found = verifier_for(asked).verify(step)
    except MisfitError:
        return misfit_payload(asked.trace, step)
    side = "encoder" if opened.kind == "encoder" else "decoder"
    own = (f"{opened.kind}_", f"{side}_streams")
    return badge_payload(asked.trace, Verification(tuple(c for c in found.checks if c.quantity.startswith(own))), step)


MAKERS: Mapping[str, Maker] = {
    "open-values": _values,
    "open-products": _products,
    "open-verification": _verification,
    **{f"open-{name}": partial(_picture, name) for name in _STAGES_OF},
    **{f"open-equation-{stage}": partial(_equation, stage) for stage in STAGES},
}
"""By the names in their addresses; `part` names the head."""
