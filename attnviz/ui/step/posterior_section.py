"""Draw the posterior attention of the current step, prior × likelihood → posterior, in a section closed by default."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import AtStep, chart, chart_payload
from attnviz.ui.components.equation.equation import equation, equation_payload
from attnviz.ui.language import key_in_language
from attnviz.ui.page_state.posterior_section import LOOKING_BACK, look_back, shows_posterior
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import after_word_of, knows_after, weights_of
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError
from attnviz.ui.step.payload_addresses import place_of
from attnviz.wording.posterior_attention import (
    about_the_reading,
    after_equation,
    after_heading,
    after_sentence,
    after_title,
    texts_of_cells,
    texts_of_source,
    texts_of_step,
)
from attnviz.wording.verification import misfit_text

PICTURE, EQUATION = "posterior", "equation-after"
"""Names of the payloads."""


def open_posterior_section(view: View) -> None:
    """Read whether the section was opened or closed since it was drawn, before anything that depends on it is drawn."""
    session, key = st.session_state, key_in_language(view.key(LOOKING_BACK))
    if key in session and session[key] != session.get(_known(key), session[key]):
        look_back(session, view, bool(session[key]))
    session[key] = shows_posterior(session, view)


def _known(key: str) -> str:
    """Return the key under which the last drawn state of that box is stored."""
    return f"{key}_drawn"


def posterior_section(view: View, theme: ThemeName) -> None:
    """Draw the section; its contents are drawn and fetched only while it is open."""
    session, key = st.session_state, key_in_language(view.key(LOOKING_BACK))
    box = st.expander(after_title(), key=key, on_change="rerun")
    session[_known(key)] = bool(box.open)
    if not box.open:
        return
    with box:
        missing = STEP_FIGURES[PICTURE].missing(Subject(view.trace, 0, weights_of(view.trace)))
        if not missing and not knows_after(view.trace):
            missing = misfit_text(view.trace, 0)
        if missing:
            st.text(missing)
            return
        left, right = st.columns([7, 5], gap="medium")
        with left:
            chart(view, place_of(view, PICTURE, theme), PICTURE)
        with right:
            equation(view, "after", place_of(view, EQUATION, theme))
            st.html(f'<p class="reading">{about_the_reading()}</p>')


def posterior_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of prior, likelihood and posterior at each requested step.

    Raise UnknownPayloadError where the model is not installed or did not make the translation.
    """
    found = after_word_of(asked.trace)
    if found is None:
        raise UnknownPayloadError(PICTURE)
    trace, picture = asked.trace, STEP_FIGURES[PICTURE].picture
    subjects = [Subject(trace, step, asked.weights, known_after=found) for step in asked.steps]
    return chart_payload(
        to_json(picture.template(subjects[0], asked.theme)),
        {
            one.step: AtStep(
                to_json(picture.values(one, asked.theme)), after_heading(), after_sentence(trace, found, one.step)
            )
            for one in subjects
        },
    )


def after_equation_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the posterior's equation; raise as `posterior_payload`."""
    found = after_word_of(asked.trace)
    if found is None:
        raise UnknownPayloadError(EQUATION)
    return equation_payload(
        after_equation(asked.trace, asked.theme),
        asked.steps,
        [texts_of_step(found, step) for step in asked.steps],
        [texts_of_source(j) for j in range(len(asked.trace.source_pieces))],
        [texts_of_cells(found, step) for step in asked.steps],
    )
