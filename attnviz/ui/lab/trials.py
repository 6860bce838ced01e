"""Is it an explanation? The step on show with other looks, how firm its choice is, and the same asked of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from attnviz import Trace
from attnviz.figures.firmness import firmness_figure, firmness_table
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.shuffled import shuffled_figure, shuffled_table
from attnviz.figures.subject import Subject
from attnviz.figures.template import to_json
from attnviz.figures.trials import trials_figure
from attnviz.languages import say
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import AtStep, chart, chart_record, steady_record
from attnviz.ui.lab.lacking import lacking
from attnviz.ui.lab.reckoned import firmness_of, shuffled_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.records import Asked, UnknownRecordError, address
from attnviz.ui.resources import tokenizer_of, weights_of
from attnviz.ui.step.subject import subject_of
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.trials import (
    Spelling,
    best_sentence,
    firmness_sentence,
    shuffled_sentence,
    trials_caveat,
    trials_sentence,
)


def trials_panel(view: View, theme: ThemeName) -> None:
    """Draw the trials of the step on show, and the pictures of all steps."""
    if told := lacking(view.trace):
        st.text(told)
        return
    chart(view, address(view.trace, "trials", theme, every=False, word=True), "trials")
    st.html(f'<p class="reading">{trials_caveat()}</p>')
    left, right = st.columns(2, gap="large")
    with left:
        st.html(f'<h2 class="section">{say("The whole sentence, shuffled")}</h2>')
        chart(view, address(view.trace, "shuffled", theme, every=True), "shuffled")
    with right:
        st.html(f'<h2 class="section">{say("How firm each choice is")}</h2>')
        chart(view, address(view.trace, "firmness", theme, every=True), "firmness")


def trials_record(asked: Asked) -> dict[str, Any]:
    """Return the trials of a step, and where it should have looked for its word, or for the one that is asked about;
    raise UnknownRecordError where there are none."""
    trace, (step, *others) = asked.trace, asked.steps
    if others or lacking(trace):
        raise UnknownRecordError("trials")
    subject = Subject(trace, step, weights_of(trace), word=asked.word, spelling=spelling_of(trace))
    tried, best = subject.trials, subject.best_look
    told = f"{trials_sentence(tried, subject.spelled)} " + best_sentence(
        best, tried.real, subject.explained, trace, subject.spelled
    )
    figure = trials_figure(trace, tried, subject.spelled, best, theme=asked.theme).to_plotly_json()
    # What is drawn is kept, a hundredth of what was tried.
    return chart_record(to_json({"data": list(figure["data"]), "layout": figure["layout"]}),
                        {step: AtStep("{}", "", told)})  # fmt: skip


def shuffled_record(asked: Asked) -> dict[str, Any]:
    """Return the picture of Jain & Wallace; raise UnknownRecordError where there is none."""
    trace = asked.trace
    if lacking(trace):
        raise UnknownRecordError("shuffled")
    found = shuffled_of(trace)
    told = shuffled_sentence(found)
    return steady_record(
        shuffled_figure(trace, found, theme=asked.theme).to_json(), dict.fromkeys(asked.steps, ("", told))
    )


def firmness_record(asked: Asked) -> dict[str, Any]:
    """Return how firm every choice is, with what is said of each step; raise UnknownRecordError where there is none."""
    trace = asked.trace
    if lacking(trace):
        raise UnknownRecordError("firmness")
    found, spelling = firmness_of(trace), spelling_of(trace)
    figure = firmness_figure(trace, found, spelling, theme=asked.theme)
    return steady_record(
        figure.to_json(), {step: ("", firmness_sentence(found, step, spelling)) for step in asked.steps}
    )


def spelling_of(trace: Trace) -> Spelling:
    """Return what spells the pieces of the model that made `trace`, which is here."""
    tokenizer = tokenizer_of(trace)
    assert tokenizer is not None  # lacking
    return tokenizer.piece


def trials_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the pictures of the section as they are saved."""
    trace = view.trace
    if lacking(trace):
        return
    subject, one = subject_of(view, session), STEP_FIGURES["trials"]
    step = subject.step
    yield Picture(one.title(subject), one.headline(subject), f"step-{step + 1}-trials", one.draw(subject),
                  one.table(subject))  # fmt: skip
    title, found = say("The whole sentence, shuffled"), shuffled_of(trace)
    yield Picture(title, title, "shuffled", shuffled_figure(trace, found, step=step), shuffled_table(trace, found))
    title, firm, spelling = say("How firm each choice is"), firmness_of(trace), spelling_of(trace)
    yield Picture(title, title, "firmness", firmness_figure(trace, firm, spelling, step=step),
                  firmness_table(trace, firm, spelling))  # fmt: skip
