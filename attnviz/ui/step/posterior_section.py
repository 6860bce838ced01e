"""Draw the section on posterior attention at the current step, prior × likelihood → posterior; closed by default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attnviz.analysis.posterior import (
    posterior_caption,
    posterior_equation,
    posterior_heading,
    posterior_sentence,
    posterior_texts_of_cells,
    posterior_texts_of_source,
    posterior_texts_of_step,
    posterior_title,
)
from attnviz.analysis.verification import misfit_text
from attnviz.figures.registry import POSTERIOR
from attnviz.figures.subject import Subject
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import box, columns, html, plain_text
from attnviz.ui.components.equation import equation, equation_payload
from attnviz.ui.fields import option_disclosure
from attnviz.ui.page_state.selection import POSTERIOR_OPEN
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload, payload_address
from attnviz.ui.resources import has_posterior, posterior_attention_of, weights_of
from attnviz.ui.view import View

POSTERIOR_EQUATION = "equation-after"
"""Name of the payload of the equation."""


def posterior_section(view: View, theme: ThemeName) -> None:
    """Draw the section; the browser opens and closes it, and fetches its figures once it is open."""
    option_disclosure(view, POSTERIOR_OPEN, posterior_title())
    with box(view.key("posterior_contents")):
        reason = POSTERIOR.missing(Subject(view.trace, 0, weights_of(view.trace)))
        if not reason and not has_posterior(view.trace):
            reason = misfit_text(view.trace, 0)
        if reason:
            plain_text(reason)
            return
        left, right = columns([7, 5], gap="medium")
        with left:
            chart(view, payload_address(view, POSTERIOR.name, theme), POSTERIOR.name)
        with right:
            equation(view, "after", payload_address(view, POSTERIOR_EQUATION, theme))
            html(f'<p class="explanation">{posterior_caption()}</p>')


@makes_payload(POSTERIOR.name, of_step=True)
def posterior_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of prior, likelihood and posterior at each requested step.

    Raise UnknownPayloadError where the model is not installed or did not make the translation.
    """
    attention = posterior_attention_of(request.trace)
    if attention is None:
        raise UnknownPayloadError(POSTERIOR.name)
    trace, heading = request.trace, posterior_heading()
    subject = Subject(trace, 0, request.weights, theme=request.theme, known_posterior=attention)
    return chart_payload(
        {step: POSTERIOR.draw(replace(subject, step=step)) for step in request.steps},
        {step: (heading, posterior_sentence(trace, attention, step)) for step in request.steps},
    )


@makes_payload(POSTERIOR_EQUATION, of_step=True)
def posterior_equation_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the posterior's equation; raise UnknownPayloadError where `posterior_payload` does."""
    attention = posterior_attention_of(request.trace)
    if attention is None:
        raise UnknownPayloadError(POSTERIOR_EQUATION)
    return equation_payload(
        posterior_equation(request.trace, request.theme),
        request.steps,
        [posterior_texts_of_step(attention, step) for step in request.steps],
        [posterior_texts_of_source(j) for j in range(len(request.trace.source_pieces))],
        [posterior_texts_of_cells(attention, step) for step in request.steps],
    )
