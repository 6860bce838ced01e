"""Lab section *Perturbation tests*: other weights at the current step; shuffles and minimal changes at all steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from attnviz import Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.perturbation_tests import (
    PERTURBATION_REFERENCES,
    best_sentence,
    perturbation_tests_caveat,
    perturbation_tests_question,
    perturbation_tests_sentence,
    shuffled_sentence,
)
from attnviz.analysis.step_evaluation import Spelling, minimal_change_sentence
from attnviz.figures.perturbation_figure import (
    PERTURBATION_WIDTH,
    minimal_change_figure,
    perturbation_tests_figure,
    perturbation_tests_likeliest_table,
    shuffled_figure,
)
from attnviz.figures.registry import PERTURBATION_TESTS
from attnviz.languages import gettext
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.ui.components.chart import chart, steady_payload
from attnviz.ui.components.component import box, columns, html, plain_text
from attnviz.ui.fields import disclosure
from attnviz.ui.glossary import references
from attnviz.ui.lab.cached_analyses import (
    best_attention_of,
    minimal_change_of,
    perturbation_tests_of,
    shuffled_of,
    unavailable_reason,
)
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import tokenizer_of
from attnviz.ui.step.logit_attribution_panel import draw_word_choice, subject_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View

PERTURBATION_WIDTHS = {"": PERTURBATION_WIDTH, "-narrow": 358}
"""Width in pixels of the figure, by the window's size."""


def perturbation_tests_panel(view: View) -> None:
    """Draw the perturbation tests of the current step, and a button that opens the rest of the section."""
    if reason := unavailable_reason(view.trace):
        plain_text(reason)
        return
    chart(
        view,
        address(view.trace, "perturbation-tests", every=False, word=True, sized=True),
        "perturbation-tests",
        waiting=gettext("Computing…"),
        prefetch=True,
    )
    if disclosure(gettext("Explanations, and the tests of all steps"), key=view.key("all_steps")):
        _more(view)
        _all_steps(view)
        references(PERTURBATION_REFERENCES)


def _more(view: View) -> None:
    """Draw how to read the picture, what the tests show, and the choice of a word for the best attention."""
    left, right = columns((1, 1), gap="large")
    with left:
        _heading(
            gettext("How to read the picture"),
            gettext(
                "The left side shows, above each English piece, the weights that each test tries. A dash marks the "
                "weight that the model computed. The right side shows how probable the word is with the weights of "
                "each test. A line marks the probability of the word with the weights that the model computed."
            ),
        )
        with box(view.key("inside_word")):
            _best_attention_choice(view)
    with right:
        _heading(gettext("What perturbation tests show, and their limits"), perturbation_tests_caveat())


def _all_steps(view: View) -> None:
    """Draw the figures of all steps: shuffled weights, and minimal changes."""
    left, right = columns((1, 1), gap="large")
    with left, box(view.key("beside_bars")):
        _heading(
            gettext("All steps with shuffled weights"),
            gettext(
                "Each point is a step (as in a figure of Jain & Wallace 2019). The further right a point is, the more "
                "the step’s attention goes to a single piece. The higher a point is, the more the probabilities of "
                "the step change when its weights are shuffled. A point is filled if the step writes the same piece "
                "with most shuffled weights as with its own weights, and hollow otherwise. Click a point to go to its "
                "step."
            ),
        )
        chart(view, address(view.trace, "shuffled", every=True), "shuffled", waiting=gettext("Computing…"))
    with right:
        _heading(
            gettext("Minimal weight change of each step"),
            gettext(
                "Each bar stands for one step. A bar shows the smallest change of the attention weights that we found "
                "to make its step write another piece. Weight moved from one piece to another counts for both pieces, "
                "so the change lies between 0 and 2. A change smaller than the one shown may exist. The label of a "
                "bar contains an arrow. After the arrow is the piece that the step writes with the changed weights. "
                "Before the arrow is the likeliest piece with the unchanged weights. The label omits the piece before "
                "the arrow if the step wrote this piece. Click a bar to go to its step."
            ),
        )
        chart(
            view,
            address(view.trace, "minimal-change", every=True),
            "minimal-change",
            waiting=gettext("Computing…"),
        )


def _heading(title: str, text: str) -> None:
    html(f'<h2 class="section">{escape(title)}</h2><p class="explanation">{escape(text)}</p>')


def _best_attention_choice(view: View) -> None:
    """Draw the choice of the word that the best attention makes likeliest."""
    draw_word_choice(view, gettext("Best attention weights for"))


@makes_payload("perturbation-tests")
def perturbation_tests_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of a step's perturbation tests, for a window of one of the `PERTURBATION_WIDTHS`.

    It includes the best attention for the requested word, if any. Raise UnknownPayloadError where there are none.
    """
    trace, (step, *others) = request.trace, request.steps
    width = PERTURBATION_WIDTHS.get(request.parameters.get("size", ""))
    if width is None or others or unavailable_reason(trace):
        raise UnknownPayloadError("perturbation-tests")
    word, tests, spelling = request.word, perturbation_tests_of(trace, step), spelling_of(trace)
    best = None if word is None else best_attention_of(trace, step, word)
    sentences = [perturbation_tests_sentence(tests, spelling)]
    if word is not None and best is not None:
        sentences.append(best_sentence(best, tests.real, word, trace, spelling))
    figure = perturbation_tests_figure(trace, tests, spelling, best, width=width)
    caption = perturbation_tests_question(tests, spelling), " ".join(filter(None, sentences))
    return steady_payload(figure, {step: caption})


@makes_payload("shuffled")
def shuffled_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the shuffling figure of Jain & Wallace (2019).

    Raise UnknownPayloadError where there is none.
    """
    trace = request.trace
    if unavailable_reason(trace):
        raise UnknownPayloadError("shuffled")
    shuffles = shuffled_of(trace)
    sentence = shuffled_sentence(shuffles)
    figure = shuffled_figure(trace, shuffles)
    return steady_payload(figure, dict.fromkeys(request.steps, ("", sentence)))


@makes_payload("minimal-change")
def minimal_change_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of every step's minimal change; raise UnknownPayloadError where there is none."""
    trace = request.trace
    if unavailable_reason(trace):
        raise UnknownPayloadError("minimal-change")
    changes, spelling = minimal_change_of(trace), spelling_of(trace)
    figure = minimal_change_figure(trace, changes, spelling)
    return steady_payload(
        figure, {step: ("", minimal_change_sentence(changes, step, spelling)) for step in request.steps}
    )


def spelling_of(trace: Trace) -> Spelling:
    """Return the function from piece ids to text of the model that made `trace`, an installed one."""
    tokenizer = tokenizer_of(trace)
    assert tokenizer is not None  # callers check `unavailable_reason` first
    return tokenizer.piece


def perturbation_tests_pictures(view: View) -> Iterator[OfferedFigure]:
    """Yield the figures of the section as they are saved."""
    trace = view.trace
    if unavailable_reason(trace):
        return
    subject, figure = replace(subject_of(view), longest=LONGEST_LABEL), PERTURBATION_TESTS
    step = subject.step
    yield OfferedFigure(
        figure.title(subject), figure.headline(subject), f"step-{step + 1}-{figure.name}", partial(figure.draw, subject)
    )
    title = gettext("All steps with shuffled weights")
    yield OfferedFigure(title, title, "shuffled", lambda: shuffled_figure(trace, shuffled_of(trace), step=step))
    title = gettext("Minimal weight change of each step")
    yield OfferedFigure(
        title,
        title,
        "minimal-change",
        lambda: minimal_change_figure(trace, minimal_change_of(trace), spelling_of(trace), step=step),
    )


def perturbation_tests_tables(view: View) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the likeliest pieces of each test of the current step."""
    if not unavailable_reason(view.trace):
        subject = subject_of(view)
        yield (
            gettext("Likeliest pieces of each test"),
            perturbation_tests_likeliest_table(subject.perturbation_tests, subject.piece_or_id, subject.best_attention),
        )
