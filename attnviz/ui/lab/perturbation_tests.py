"""Draw perturbation tests of the current step's attention, and minimal changes and shuffles of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from attnviz import Trace
from attnviz.figures.minimal_change import minimal_change_figure, minimal_change_table
from attnviz.figures.perturbation_tests import WIDTH, perturbation_tests_figure, perturbation_tests_likeliest_table
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.shuffled import shuffled_figure, shuffled_table
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import chart, steady_payload
from attnviz.ui.lab.availability import missing
from attnviz.ui.lab.cached_analyses import best_look_of, minimal_change_of, perturbation_tests_of, shuffled_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import tokenizer_of
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.step.attributed_word import word_choice
from attnviz.ui.step.figure_input import subject_of
from attnviz.ui.text_passages import references
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.perturbation_tests import (
    REFERENCES,
    Spelling,
    best_sentence,
    minimal_change_sentence,
    perturbation_tests_caveat,
    perturbation_tests_sentence,
    shuffled_sentence,
)

SHAPES = {"": WIDTH, "-narrow": 358}
"""Width in pixels of the figure, by the window's size."""


def perturbation_tests_panel(view: View, theme: ThemeName) -> None:
    """Draw the perturbation tests of the current step, and the figures of all steps."""
    if told := missing(view.trace):
        st.text(told)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _heading(
            gettext("This step with other weights"),
            gettext(
                "On the left are the weights that each test tries, above the English pieces. A dash marks the "
                "step’s own weight. On the right is how much each test changes the probabilities of all words, "
                "from 0 (nothing) to 1 (everything). Above it is what the step would write."
            ),
        )
        chart(
            view,
            address(view.trace, "perturbation-tests{size}", theme, every=False, word=True),
            "perturbation-tests",
            waiting=gettext("Computing…"),
            ahead=True,
        )
    with right:
        with st.container(key=view.key("inside_word")):
            _wanted(view)
        _heading(gettext("What this shows, and what it does not"), perturbation_tests_caveat())
    left, right = st.columns(2, gap="large")
    with left, st.container(key=view.key("beside_bars")):
        _heading(
            gettext("All steps, weights shuffled"),
            gettext(
                "Each point is a step (as in a figure of Jain & Wallace 2019). The further right it is, the more "
                "attention goes to one piece. The higher it is, the more its probabilities change when its "
                "weights are shuffled. A filled point writes the same piece under most shuffles; a hollow point "
                "does not. Click a point to go to its step."
            ),
        )
        chart(view, address(view.trace, "shuffled", theme, every=True), "shuffled", waiting=gettext("Computing…"))
    with right:
        _heading(
            gettext("Minimal change of each step"),
            gettext(
                "Each bar is the smallest change found in the weights that makes the step write another piece. "
                "It counts moved weight where it leaves and where it arrives, so it lies between 0 and 2. A "
                "smaller change may exist. After the arrow is the piece that would be written. Before it is the "
                "likeliest piece now, unless the step wrote that piece. Click a bar to go to its step."
            ),
        )
        chart(
            view,
            address(view.trace, "minimal-change", theme, every=True),
            "minimal-change",
            waiting=gettext("Computing…"),
        )
    references(REFERENCES)


def _heading(title: str, told: str) -> None:
    st.html(f'<h2 class="section">{escape(title)}</h2><p class="reading">{escape(told)}</p>')


def _wanted(view: View) -> None:
    """Draw the choice of the word whose best attention is searched."""
    tokenizer = tokenizer_of(view.trace)
    assert tokenizer is not None  # callers check `lacking` first
    word_choice(view, tokenizer, gettext("Best attention weights for"))


def perturbation_tests_payload(width: int, asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of a step's perturbation tests, `width` pixels wide.

    It has the best attention for the step's word, or for the requested one. Raise UnknownPayloadError where there are
    none.
    """
    trace, (step, *others) = asked.trace, asked.steps
    if others or missing(trace):
        raise UnknownPayloadError("perturbation-tests")
    word = trace.target_ids[step] if asked.word is None else asked.word
    tried, best, spelling = perturbation_tests_of(trace, step), best_look_of(trace, step, word), spelling_of(trace)
    told = f"{perturbation_tests_sentence(tried, spelling)} {best_sentence(best, tried.real, word, trace, spelling)}"
    figure = perturbation_tests_figure(trace, tried, spelling, best, theme=asked.theme, width=width)
    return steady_payload(figure.to_json(), {step: ("", told)})


def shuffled_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the shuffling figure of Jain & Wallace (2019).

    Raise UnknownPayloadError where there is none.
    """
    trace = asked.trace
    if missing(trace):
        raise UnknownPayloadError("shuffled")
    found = shuffled_of(trace)
    told = shuffled_sentence(found)
    return steady_payload(
        shuffled_figure(trace, found, theme=asked.theme).to_json(), dict.fromkeys(asked.steps, ("", told))
    )


def minimal_change_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of every step's minimal change; raise UnknownPayloadError where there is none."""
    trace = asked.trace
    if missing(trace):
        raise UnknownPayloadError("minimal-change")
    found, spelling = minimal_change_of(trace), spelling_of(trace)
    figure = minimal_change_figure(trace, found, spelling, theme=asked.theme)
    return steady_payload(
        figure.to_json(), {step: ("", minimal_change_sentence(found, step, spelling)) for step in asked.steps}
    )


def spelling_of(trace: Trace) -> Spelling:
    """Return the function from piece ids to text, of the model that made `trace` and must be installed."""
    tokenizer = tokenizer_of(trace)
    assert tokenizer is not None  # callers check `lacking` first
    return tokenizer.piece


def perturbation_tests_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the figures of the section as they are saved."""
    trace = view.trace
    if missing(trace):
        return
    subject, one = subject_of(view, session), STEP_FIGURES["perturbation-tests"]
    step = subject.step
    yield Picture(
        one.title(subject),
        one.headline(subject),
        f"step-{step + 1}-perturbation-tests",
        one.draw(subject),
        one.table(subject),
    )
    title, found = gettext("All steps, weights shuffled"), shuffled_of(trace)
    yield Picture(title, title, "shuffled", shuffled_figure(trace, found, step=step), shuffled_table(trace, found))
    title, firm, spelling = gettext("Minimal change of each step"), minimal_change_of(trace), spelling_of(trace)
    yield Picture(
        title,
        title,
        "minimal-change",
        minimal_change_figure(trace, firm, spelling, step=step),
        minimal_change_table(trace, firm, spelling),
    )


def perturbation_tests_tables(view: View, session: Session) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the perturbation tests of the current step, and shuffles and minimal changes of all steps."""
    trace = view.trace
    if missing(trace):
        return
    subject = subject_of(view, session)
    yield (
        gettext("Perturbation tests of step {step}", step=subject.step + 1),
        STEP_FIGURES["perturbation-tests"].table(subject),
    )
    yield (
        gettext("Likeliest pieces of each test"),
        perturbation_tests_likeliest_table(subject.perturbation_tests, subject.spelled, subject.best_attention),
    )
    yield gettext("All steps, weights shuffled"), shuffled_table(trace, shuffled_of(trace))
    yield (
        gettext("Minimal change of each step"),
        minimal_change_table(trace, minimal_change_of(trace), spelling_of(trace)),
    )
