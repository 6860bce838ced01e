"""Draw the effect of a change by hand on the current step, compared with the translation it was made from."""

from __future__ import annotations

from typing import Any

from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import AtStep, chart, chart_payload
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.step.payload_addresses import all_at_once
from attnviz.ui.view import View
from attnviz.wording.what_if import change_sentence


def what_changed(view: View, theme: ThemeName) -> None:
    """Draw what changed at the current step; nothing for the original translation."""
    if view.parent is not None and not STEP_FIGURES["changed"].missing(Subject(view.trace, 0, parent=view.parent)):
        changes_address = address(view.trace, "changed", theme, every=all_at_once(view), parent=view.parent)
        chart(view, changes_address, "changed")


def changed_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the changes at each requested step; raise UnknownPayloadError where there is no parent."""
    if request.parent is None:
        raise UnknownPayloadError("changed")
    figure = STEP_FIGURES["changed"].picture
    subjects = [Subject(request.trace, step, parent=request.parent) for step in request.steps]
    return chart_payload(
        to_json(figure.template(subjects[0], request.theme)),
        {
            subject.step: AtStep(
                to_json(figure.values(subject, request.theme)),
                gettext("What changed at this step"),
                change_sentence(subject.change),
            )
            for subject in subjects
        },
    )
