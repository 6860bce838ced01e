"""Entry point of the page *Lab*: attributions, perturbation tests, the beam as a tree, comparisons, neighbours."""

from __future__ import annotations

from dataclasses import replace

from attnviz.analysis.findings.marks import marks_of
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.trace import Record
from attnviz.ui.chrome import Page
from attnviz.ui.lab.lab_page import lab_page
from attnviz.ui.page_state.view import View
from attnviz.ui.toolbar.controls import current_request, request_address
from attnviz.ui.toolbar.translation import forget_link, open_view, shown_translation


def _draw() -> None:
    available = installed_models()
    request = current_request(available) if available else None
    shown = shown_translation(request, back=False)
    if shown.view:
        view = replace(shown.view, first_step=_first_step(shown.view))
        parameters = request_address(request, available) if shown.asked and request else None
        open_view(view, parameters)
        lab_page(view, requested=shown.asked)


def _first_step(view: View) -> int:
    """Return the step of the first word that is likely wrong; where there is none, the view's own first step."""
    marks = marks_of(view.trace) if isinstance(view.trace, Record) else []
    return marks[0].step if marks else view.first_step


page = Page("lab", lambda: gettext("Lab"), _draw, forget_link)
