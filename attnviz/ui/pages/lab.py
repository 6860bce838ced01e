"""Entry point of the page *Lab*: attributions, perturbation tests, the beam as a tree, comparisons, neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attnviz.analysis.findings.marks import least_sure_step
from attnviz.figures.figure_input import TRANSLATION, Subject
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.lab.lab_page import lab_page
from attnviz.ui.step.marks import shown_marks
from attnviz.ui.toolbar.controls import current_request, request_address
from attnviz.ui.toolbar.translation import open_view, shown_translation


def _draw() -> None:
    available = installed_models()
    request = current_request(available) if available else None
    shown = shown_translation(request, back=False)
    if shown.view:
        view = replace(shown.view, first_step=_doubtful_step(shown.view.trace))
        parameters = request_address(request, available) if shown.asked and request else None
        open_view(view, parameters)
        lab_page(view, requested=shown.asked)


def _doubtful_step(trace: Any) -> int:
    """Return the 0-based step of the first mistake, or of the content word that the model is least sure of.

    Imported attention and other pairs of sentences have neither; for them it is the first step.
    """
    if not TRANSLATION.is_met(Subject(trace, 0)):
        return 0
    return next((mark.step for mark in shown_marks(trace) if mark.strong), least_sure_step(trace))


page = Page("lab", lambda: gettext("Lab"), _draw, shows_sentence=True)
