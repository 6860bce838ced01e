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
from attnviz.wording.opened_head import STAGES, head_stage_sentences
from attnviz.wording.transformer_equations import (
    head_texts_of_cells,
    head_texts_of_source,
    opened_equations,
    opened_texts_of_step,
)

_STAGES_OF = {"scores": 1, "weights": 2, "stream": 4}


def _requested_head(request: PayloadRequest) -> OpenHead:
    """Return the requested head; raise UnknownPayloadError where there is none."""
    opened = named_head(request.trace, request.part) if request.trace.has_heads else None
    if opened is None:
        raise UnknownPayloadError(request.part)
    return opened


def _rows(opened: OpenHead) -> range:
    return range(len(opened.target_pieces))


def _picture(name: str, request: PayloadRequest) -> dict[str, Any]:
    opened, picture = _requested_head(request), STEP_FIGURES[name].picture
    subjects = [Subject(opened, row) for row in _rows(opened)]
    sentences = {row: head_stage_sentences(opened, row)[_STAGES_OF[name]] for row in _rows(opened)}
    return chart_payload(
        to_json(picture.template(subjects[0], request.theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, request.theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


def _values(request: PayloadRequest) -> dict[str, Any]:
    opened = _requested_head(request)
    return values_payload(opened, {row: head_stage_sentences(opened, row)[3] for row in _rows(opened)}, request.theme)


def _products(request: PayloadRequest) -> dict[str, Any]:
    return head_payload(_requested_head(request), request.theme)


def _equation(stage: int, request: PayloadRequest) -> dict[str, Any]:
    opened = _requested_head(request)
    template = next(equation for equation in opened_equations(opened, request.theme) if equation.stage == stage)
    rows = _rows(opened)
    return equation_payload(
        template,
        list(rows),
        [opened_texts_of_step(opened, row, request.theme) for row in rows],
        [head_texts_of_source(opened, column) for column in range(len(opened.source_pieces))],
        [head_texts_of_cells(opened, row) for row in rows],
    )


def _verification(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of the opened head's kind of attention, and of its residual stream."""
    opened, (step, *others) = _requested_head(request), request.steps
    if request.weights is None or others:
        raise UnknownPayloadError("open-verification")
    try:
        verification = verifier_for(request).verify(step)
    except MisfitError:
        return misfit_payload(request.trace, step)
    side = "encoder" if opened.kind == "encoder" else "decoder"
    own = (f"{opened.kind}_", f"{side}_streams")
    return badge_payload(
        request.trace,
        Verification(tuple(check for check in verification.checks if check.quantity.startswith(own))),
        step,
    )


MAKERS: Mapping[str, Maker] = {
    "open-values": _values,
    "open-products": _products,
    "open-verification": _verification,
    **{f"open-{name}": partial(_picture, name) for name in _STAGES_OF},
    **{f"open-equation-{stage}": partial(_equation, stage) for stage in STAGES},
}
"""By the names in their addresses; `part` names the head."""
