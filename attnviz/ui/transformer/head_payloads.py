"""Functions that make the payloads of one opened transformer head: figures, equations, verification."""

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
from attnviz.ui.components.chart import AtStep, chart_payload
from attnviz.ui.components.context_growth import values_payload
from attnviz.ui.components.energy_decomposition import head_payload
from attnviz.ui.components.equation import equation_payload
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step.verification_badge import badge_payload, misfit_payload, verifier_for
from attnviz.wording.opened_head import STAGES, head_stage_sentences
from attnviz.wording.transformer_equations import (
    head_texts_of_cells,
    head_texts_of_source,
    opened_equations,
    opened_texts_of_step,
)

_STAGE_BY_FIGURE = {"scores": 1, "weights": 2, "stream": 4}
"""Stage of the computation that a figure shows, by the figure's name; stage 3 is `_values_payload`."""


def _requested_head(request: PayloadRequest) -> OpenHead:
    """Return the requested head; raise UnknownPayloadError where there is none."""
    opened_head = named_head(request.trace, request.part) if request.trace.has_heads else None
    if opened_head is None:
        raise UnknownPayloadError(request.part)
    return opened_head


def _rows(opened_head: OpenHead) -> range:
    return range(len(opened_head.target_pieces))


def _figure_payload(name: str, request: PayloadRequest) -> dict[str, Any]:
    opened_head, picture = _requested_head(request), STEP_FIGURES[name].picture
    subjects = [Subject(opened_head, row) for row in _rows(opened_head)]
    sentences = {row: head_stage_sentences(opened_head, row)[_STAGE_BY_FIGURE[name]] for row in _rows(opened_head)}
    return chart_payload(
        to_json(picture.template(subjects[0], request.theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, request.theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


def _values_payload(request: PayloadRequest) -> dict[str, Any]:
    opened_head = _requested_head(request)
    return values_payload(
        opened_head, {row: head_stage_sentences(opened_head, row)[3] for row in _rows(opened_head)}, request.theme
    )


def _products_payload(request: PayloadRequest) -> dict[str, Any]:
    return head_payload(_requested_head(request), request.theme)


def _equation_payload(stage: int, request: PayloadRequest) -> dict[str, Any]:
    opened_head = _requested_head(request)
    template = next(equation for equation in opened_equations(opened_head, request.theme) if equation.stage == stage)
    rows = _rows(opened_head)
    return equation_payload(
        template,
        list(rows),
        [opened_texts_of_step(opened_head, row, request.theme) for row in rows],
        [head_texts_of_source(opened_head, column) for column in range(len(opened_head.source_pieces))],
        [head_texts_of_cells(opened_head, row) for row in rows],
    )


def _verification_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of the opened head's kind of attention, and of its residual stream."""
    opened_head, (step, *others) = _requested_head(request), request.steps
    if request.weights is None or others:
        raise UnknownPayloadError("open-verification")
    try:
        verification = verifier_for(request).verify(step)
    except MisfitError:
        return misfit_payload(request.trace, step)
    side = "encoder" if opened_head.kind == "encoder" else "decoder"
    prefixes = (f"{opened_head.kind}_", f"{side}_streams")
    return badge_payload(
        request.trace,
        Verification(tuple(check for check in verification.checks if check.quantity.startswith(prefixes))),
        step,
    )


MAKERS: Mapping[str, Maker] = {
    "open-values": _values_payload,
    "open-products": _products_payload,
    "open-verification": _verification_payload,
    **{f"open-{name}": partial(_figure_payload, name) for name in _STAGE_BY_FIGURE},
    **{f"open-equation-{stage}": partial(_equation_payload, stage) for stage in STAGES},
}
"""By the payload names in addresses; the address parameter `part` names the head."""
