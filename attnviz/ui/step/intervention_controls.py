"""Draw the controls that change attention and words by hand, where the model is installed."""

from __future__ import annotations

from typing import Any

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.components.chart import chart
from attnviz.ui.components.intervention_controls import controls_payload, weight_controls
from attnviz.ui.components.other_word import foils_payload, other_word
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import has_posterior, tokenizer_of
from attnviz.ui.shared_payloads import PayloadRequest, address
from attnviz.ui.step.borrowed_weights import lenders
from attnviz.ui.step.consequence import consequence_address


def can_be_changed(trace: Record) -> bool:
    """Return whether the model that made `trace` is installed, so that it can translate again."""
    return tokenizer_of(trace) is not None


def slider_labels(trace: Record) -> dict[str, str] | None:
    """Return the labels of the weights' sliders, or None where bars cannot be dragged."""
    if not can_be_changed(trace) or not trace.attends_once:
        return None
    return {
        "weight": gettext("weight of {name}"),
        "weights": gettext("Attention weights"),
        "keys": gettext("Left and right arrow: change the weight. Up and down arrow: go to another weight."),
    }


def weights_chart(view: View, at: str) -> None:
    """Draw the figure of the step's weights from the payload at `at`; its bars can be dragged where `slider_labels`."""
    labels = slider_labels(view.trace)
    chart(view, at, "softmax", hand=labels, consequence=consequence_address(view) if labels else None)


def intervention_panel(view: View, theme: ThemeName) -> None:
    """Draw the controls of the current step's attention, where it can be changed."""
    if slider_labels(view.trace) is not None:
        weight_controls(view, address(view.trace, "weight_controls", theme, every=True), lenders(view.trace))


def other_word_panel(view: View, words_address: str) -> None:
    """Draw the choice of another word from the payload at `words_address`, if the model can write one."""
    if can_be_changed(view.trace):
        other_word(view, words_address)


def interventions_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the attention controls, for all steps."""
    return controls_payload(request.trace, has_posterior(request.trace))


def other_words_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of other words at each requested step."""
    return foils_payload(request.trace, request.steps)
