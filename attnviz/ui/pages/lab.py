"""Entry point of the page *Lab*: attributions, perturbation tests, the beam as a tree, comparisons, neighbours."""

from __future__ import annotations

from dataclasses import replace

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
        view = shown.view
        mistakes = [mark for mark in shown_marks(view.trace) if mark.strong]
        if mistakes:
            view = replace(view, first_step=mistakes[0].step)
        parameters = request_address(request, available) if shown.asked and request else None
        open_view(view, parameters)
        lab_page(view, requested=shown.asked, has_mistake=bool(mistakes))


page = Page("lab", lambda: gettext("Lab"), _draw, shows_sentence=True)
