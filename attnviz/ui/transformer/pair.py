"""Second exhibit of *To the transformer*: the detector judges an English-French pair, also with two words swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from attnviz import AttnvizError
from attnviz import lazy_pandas as pd
from attnviz.analysis import judgement as texts
from attnviz.analysis.judgement import (
    JudgementVerifier,
    largest_difference,
    matching_positions,
    pair_attention,
    recompute_decomposable,
    with_words_swapped,
)
from attnviz.analysis.labels import shorten
from attnviz.analysis.verification import verification_caption
from attnviz.figures.judgement_figure import (
    aggregated_table,
    attend_figure,
    bag_figure,
    compared_figure,
    verdict_table,
)
from attnviz.languages import gettext
from attnviz.trace import Judgement
from attnviz.trace.aligned import AttentionView
from attnviz.ui.components.chart import EVERY_STEP, chart_payload, inline_chart, steady_payload
from attnviz.ui.components.component import box, columns, html, plain_text
from attnviz.ui.components.equation import inline_equation
from attnviz.ui.components.player import PlayedLanguages
from attnviz.ui.embedding import embedding, page_session, theme_name
from attnviz.ui.fields import select_box, text_box
from attnviz.ui.page_state.linked import keep_for
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.requests import request_button
from attnviz.ui.resources import cached_for_all, detector_folder, judgement_of, weights_of_detector
from attnviz.ui.step.step_controls import step_controls
from attnviz.ui.step.verification_badge import inline_verification, verification_rows
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.transformer.exhibit import Exhibit, SentenceRequest
from attnviz.ui.view import View

FRENCH = "pair"
"""Name of the French sentence, in the session state and, where it differs from the translation, in the address."""


def _make_view(request: SentenceRequest) -> View:
    folder = detector_folder()
    if folder is None:
        raise AttnvizError(
            gettext(
                "This part of the page needs a detector: a model that says whether one sentence translates another. "
                "No detector is installed. Train a detector with attnviz train --architecture decomposable and put "
                "its folder in the folder of the models, for example as models/detector."
            )
        )
    return View(
        PAIR_EXHIBIT.view_id, pair_attention(judgement_of(folder, request.device, request.sentence, _french(request)))
    )


def _french(request: SentenceRequest) -> str:
    """Draw the box of the French sentence, by default the translation; return its text."""
    session, translation = page_session(), str(request.view.trace.translation)
    keep_for(FRENCH, request.sentence)
    if not str(session.get(FRENCH, translation)).strip():
        session[FRENCH] = translation
    text = text_box(
        gettext("French sentence"),
        key=FRENCH,
        default=translation,
        parameter=FRENCH,
        help=gettext(
            "By default, this box contains the translation of the sentence above. Write another translation and watch "
            "how the verdict changes."
        ),
    )
    return text.strip() or translation


def _draw(view: View, request: SentenceRequest) -> None:
    attention: AttentionView = view.trace
    judgement: Judgement = attention.record
    html(f'<p class="explanation">{texts.detector_caption()}</p>')
    step_controls(view, PlayedLanguages((gettext("English"), gettext("French")), second_is_written=False))
    inline_verification(view, _verification_payload(judgement))
    html(f'<h2 class="section">{gettext("Attend")}</h2><p class="explanation">{texts.attention_caption()}</p>')
    left, right = columns((1, 1), gap="large")
    with left:
        inline_chart(view, _attend_payload(attention, linked=True), "heatmap")
    with right:
        from_english = pair_attention(judgement, "source")
        inline_chart(view, _attend_payload(from_english, linked=False), "other_way")
    left, right = columns((1, 1), gap="large")
    with left:
        html(f'<h2 class="section">{gettext("Compare")}</h2>')
        inline_chart(view, _comparison_payload(judgement), "compared")
    with right, box(view.key("equations_verdict")):
        html(
            f'<h2 class="section">{gettext("Aggregate, then decide")}</h2>'
            f'<p class="explanation"><b>{texts.verdict(judgement)}</b></p>'
        )
        inline_equation(view, texts.verdict_equation(judgement, theme_name()), "verdict")
    _swap_section(view, request, judgement)


def _swap_section(view: View, request: SentenceRequest, judgement: Judgement) -> None:
    """Draw the English sentence as a bag of vectors, and the controls that swap two of its words."""
    html(f'<h2 class="section">{gettext("A bag of vectors")}</h2>')
    swapped_words = choose_swap(request.sentence)
    other = None
    if swapped_words:
        other = _swapped_judgement(request, judgement, swapped_words)
        plain_text(other.source_text)
    inline_chart(view, _bag_payload(judgement, other), "bag")


def _swapped_judgement(request: SentenceRequest, judgement: Judgement, swapped_words: tuple[int, int]) -> Judgement:
    folder = detector_folder()
    assert folder is not None  # `_make_view` has checked it
    return judgement_of(
        folder, request.device, with_words_swapped(request.sentence, *swapped_words), judgement.target_text
    )


@cached_for_all
def _bag_payload(judgement: Judgement, other: Judgement | None) -> dict[str, Any]:
    sentence = _bag_sentence(judgement, other)
    return steady_payload(bag_figure(judgement, other), {EVERY_STEP: ("", sentence)})


def _bag_sentence(judgement: Judgement, other: Judgement | None) -> str:
    """Return a description of the bag or, if two words are swapped, of the effect of the swap.

    The latter says whether the recomputation of both gives bitwise equal probabilities.
    """
    if other is None:
        return texts.comparisons_caption()
    positions, weights = matching_positions(judgement, other), weights_of_detector(judgement)
    difference = None if positions is None else largest_difference(judgement, other, positions)
    exact = False
    if positions is not None and weights is not None:
        recomputed = [recompute_decomposable(weights, each.source_ids, each.target_ids) for each in (judgement, other)]
        exact = bool((recomputed[0]["probabilities"] == recomputed[1]["probabilities"]).all())
    return texts.swap_sentence(judgement, other, difference, exact=exact)


@cached_for_all
def _attend_payload(attention: AttentionView, *, linked: bool) -> dict[str, Any]:
    """Return the payload of one sentence's attention to the other; its rows select steps if `linked`."""
    spec = attend_figure(attention)
    if not linked:
        spec.layout["meta"] = {name: spec.layout["meta"][name] for name in ("narrowest", "widest")}
    return steady_payload(spec, {})


@cached_for_all
def _comparison_payload(judgement: Judgement) -> dict[str, Any]:
    steps = range(len(judgement.target_pieces))
    return chart_payload(
        {step: compared_figure(judgement, step) for step in steps},
        {step: ("", texts.compared_sentence(judgement, step)) for step in steps},
    )


@cached_for_all
def _verification_payload(judgement: Judgement) -> dict[str, Any]:
    weights = weights_of_detector(judgement)
    if weights is None:
        text = gettext(
            "Numbers not verified: the model that computed them, “{model}”, is not installed.", model=judgement.model
        )
        return {"holds": False, "summary": text, "wrong": [], "about": "", "names": [], "rows": []}
    verified = JudgementVerifier(judgement, weights).verify(0)
    return {
        "holds": verified.holds,
        "summary": texts.verdict_badge_text(verified),
        "about": verification_caption(),
        "wrong": [],
        "names": [gettext("quantity"), gettext("numbers"), "max |Δ|", ""],
        "rows": verification_rows(verified, texts.judgement_quantity_names()),
    }


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    attention: AttentionView = asked.trace
    judgement, step, swap = attention.record, asked.selection.step, asked.shown["swap"]
    for each, name in (
        (attention, gettext("French looks at English")),
        (pair_attention(judgement, "source"), gettext("English looks at French")),
    ):
        yield OfferedFigure(name, name, f"attend-{each.name}", partial(attend_figure, each))
    title = gettext("Comparison of piece {number}", number=step + 1)
    yield OfferedFigure(
        title,
        title,
        f"compared-{step + 1}",
        partial(compared_figure, judgement, step),
        note=texts.compared_sentence(judgement, step),
    )
    other = _swapped_judgement(asked.shown["request"], judgement, swap) if swap else None
    title = gettext("A bag of vectors")
    yield OfferedFigure(
        title, title, "bag", partial(bag_figure, judgement, other), note=_bag_sentence(judgement, other)
    )


def _tables(asked: PayloadRequest) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the verdict, which are in no figure."""
    yield gettext("The sums of the comparisons, and the hidden layer"), aggregated_table(asked.trace.record)
    yield gettext("The verdict"), verdict_table(asked.trace.record)


PAIR_EXHIBIT = Exhibit(_make_view, _draw, _pictures, "two", _tables)


SWAP = "swap"
"""Name of the choice in session state and address: the words' numbers from 1, such as "2.5"; none while unswapped."""
_FIRST_WORD, _SECOND_WORD = "swap_one", "swap_other"


def chosen_swap(sentence: str) -> tuple[int, int] | None:
    """Return the 0-based indices of the two swapped words; None while unswapped."""
    return _parse_swap(page_session().get(SWAP), len(sentence.split()))


def choose_swap(sentence: str) -> tuple[int, int] | None:
    """Draw the choice of two words and the button that swaps them; return `chosen_swap`."""
    words, chosen = sentence.split(), chosen_swap(sentence)
    if len(words) < 2 or embedding() is not None:
        return chosen
    defaults = chosen or (min(1, len(words) - 2), max(len(words) - 2, min(1, len(words) - 2) + 1))
    names = {str(index): f"{index + 1} {shorten(word, 24)}" for index, word in enumerate(words)}
    with box("swap_words", row=True):
        labels = gettext("This word"), gettext("and this one")
        indices = []
        for name, default, label in zip((_FIRST_WORD, _SECOND_WORD), defaults, labels, strict=True):
            key = f"{name}_{len(words)}"
            if chosen:
                page_session()[key] = str(default)
            index = select_box(label, names, key=key, default=str(default), disabled=chosen is not None, width=220)
            indices.append(int(index))
        label = gettext("Undo the swap") if chosen else gettext("Swap them")
        request_button(
            label,
            partial(_store_swap, None if chosen else indices),
            key="swap_button",
            type="primary",
            disabled=indices[0] == indices[1],
        )
    return chosen


def _store_swap(indices: list[int] | None) -> None:
    page_session()[SWAP] = None if indices is None else ".".join(str(index + 1) for index in sorted(indices))


def _parse_swap(value: object, count: int) -> tuple[int, int] | None:
    """Return the word indices in a value of `SWAP`, None if it is invalid for `count` words."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", str(value))
    if not match:
        return None
    first, second = (int(text) - 1 for text in match.groups())
    return (first, second) if 0 <= first < second < count else None
