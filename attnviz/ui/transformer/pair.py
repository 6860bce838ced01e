"""Second exhibit of *To the transformer*: the detector judges an English-French pair, also with two words swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

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
from attnviz.analysis.verification import not_verified_text
from attnviz.errors import user_error
from attnviz.figures.judgement_figure import (
    aggregated_table,
    attend_figure,
    bag_figure,
    compared_figure,
    verdict_table,
)
from attnviz.figures.spec import Spec
from attnviz.languages import gettext
from attnviz.trace import Judgement
from attnviz.trace.aligned import AttentionView
from attnviz.ui.components.chart import chart_payload, inline_figure
from attnviz.ui.components.component import box, columns, component, explanation, plain_text, section_heading
from attnviz.ui.embedding import embedding, page_session, theme_name
from attnviz.ui.fields import select_box, text_box
from attnviz.ui.page_state.linked import keep_for
from attnviz.ui.payloads import Payload, PayloadRequest, Shown
from attnviz.ui.requests import request_button
from attnviz.ui.resources import cached_for_all, detector_folder, judgement_of, weights_of
from attnviz.ui.step.stage_panels import inline_equation
from attnviz.ui.step.step_controls import PlayedLanguages, step_controls
from attnviz.ui.step.verification_badge import badge_payload, verification, verification_rows
from attnviz.ui.toolbar.downloads import NamedTables, OfferedFigure, OfferedPart
from attnviz.ui.transformer import Exhibit, SentenceRequest
from attnviz.ui.view import View

SWAP = "swap"
"""Name of the choice in session state and address: the words' numbers from 1, such as "2.5"; none while unswapped."""
FRENCH = "pair"
"""Name of the French sentence, in the session state and, where it differs from the translation, in the address."""


def _make(request: SentenceRequest) -> tuple[View, Shown]:
    """Return the view of the judged pair, and the verdict on the pair with the chosen words swapped, if any."""
    sentence, french = request.sentence, _french(request)
    swap = _chosen_swap(sentence)
    swapped = swap and _judgement(request, with_words_swapped(sentence, *swap), french)
    return View("two", pair_attention(_judgement(request, sentence, french))), {"swapped": swapped}


def _judgement(request: SentenceRequest, english: str, french: str) -> Judgement:
    """Return the verdict on a pair; raise AttnvizError on bad input, and where there is no detector."""
    folder = detector_folder()
    if folder is None:
        raise user_error(
            "This part of the page needs a detector: a model that says whether one sentence translates another. "
            "No detector is installed. Train a detector with attnviz train --architecture decomposable and put "
            "its folder in the folder of the models, for example as models/detector."
        )
    return judgement_of(folder, request.device, english, french)


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


def _draw(view: View, shown: Shown) -> None:
    attention: AttentionView = view.trace
    judgement: Judgement = attention.record
    swapped: Judgement | None = shown["swapped"]
    explanation(texts.detector_caption())
    step_controls(view, PlayedLanguages((gettext("English"), gettext("French")), second_is_written=False))
    verification(view, _verification_payload(judgement))
    section_heading(gettext("Attend"), texts.attention_caption())
    left, right = columns((1, 1), gap="large")
    with left:
        inline_figure(view, "heatmap", partial(attend_figure, attention))
    with right:
        inline_figure(view, "other_way", partial(_without_steps, pair_attention(judgement, "source")))
    left, right = columns((1, 1), gap="large")
    with left:
        section_heading(gettext("Compare"))
        component("chart", view.key("compared"), _comparison_payload(judgement))
    with right, box(view.key("equations_verdict")):
        section_heading(gettext("Aggregate, then decide"), f"<b>{texts.verdict(judgement)}</b>")
        inline_equation(view, texts.verdict_equation(judgement, theme_name()), "verdict")
    bag = _bag(judgement, swapped)
    section_heading(bag.title)
    _choose_swap(judgement.source_text)
    if swapped:
        plain_text(swapped.source_text)
    inline_figure(view, bag.name, bag.draw, _bag_sentence(judgement, swapped))


def _bag(judgement: Judgement, other: Judgement | None) -> OfferedFigure:
    return OfferedFigure(gettext("A bag of vectors"), "bag", partial(bag_figure, judgement, other))


@cached_for_all
def _bag_sentence(judgement: Judgement, other: Judgement | None) -> str:
    """Return a description of the bag or, if two words are swapped, of the effect of the swap.

    The latter says whether the recomputation of both gives bitwise equal probabilities.
    """
    if other is None:
        return texts.comparisons_caption()
    positions, weights = matching_positions(judgement, other), weights_of(judgement)
    difference = None if positions is None else largest_difference(judgement, other, positions)
    exact = False
    if positions is not None and weights is not None:
        recomputed = [recompute_decomposable(weights, each.source_ids, each.target_ids) for each in (judgement, other)]
        exact = bool((recomputed[0]["probabilities"] == recomputed[1]["probabilities"]).all())
    return texts.swap_sentence(judgement, other, difference, exact=exact)


def _without_steps(attention: AttentionView) -> Spec:
    """Return one sentence's attention to the other, whose rows select no steps."""
    spec = attend_figure(attention)
    spec.layout["meta"] = {name: spec.layout["meta"][name] for name in ("narrowest", "widest")}
    return spec


@cached_for_all
def _comparison_payload(judgement: Judgement) -> Payload:
    steps = range(len(judgement.target_pieces))
    return chart_payload(
        {step: compared_figure(judgement, step) for step in steps},
        {step: texts.compared_sentence(judgement, step) for step in steps},
    )


@cached_for_all
def _verification_payload(judgement: Judgement) -> Payload:
    weights = weights_of(judgement)
    if weights is None:
        return badge_payload(not_verified_text(judgement), holds=False)
    verified = JudgementVerifier(judgement, weights).verify(0)
    rows = verification_rows(verified, texts.judgement_quantity_names())
    return badge_payload(texts.verdict_badge_text(verified), rows, holds=verified.holds)


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    attention: AttentionView = asked.view.trace
    judgement, step = attention.record, asked.selection.step
    for each, name in (
        (attention, gettext("French looks at English")),
        (pair_attention(judgement, "source"), gettext("English looks at French")),
    ):
        yield OfferedFigure(name, f"attend-{each.name}", partial(attend_figure, each))
    title = gettext("Comparison of piece {number}", number=step + 1)
    yield OfferedFigure(title, f"compared-{step + 1}", partial(compared_figure, judgement, step))
    yield _bag(judgement, asked.shown["swapped"])


def _tables(asked: PayloadRequest) -> NamedTables:
    """Yield the numbers of the verdict, which are in no figure."""
    judgement: Judgement = asked.view.trace.record
    yield gettext("The sums of the comparisons, and the hidden layer"), aggregated_table(judgement)
    yield gettext("The verdict"), verdict_table(judgement)


PAIR_EXHIBIT = Exhibit(_make, _draw, OfferedPart(_pictures, _tables), SWAP)


_FIRST_WORD, _SECOND_WORD = "swap_one", "swap_other"


def _chosen_swap(sentence: str) -> tuple[int, int] | None:
    """Return the 0-based indices of the two swapped words; None while unswapped, or where there are no such words."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", str(page_session().get(SWAP)))
    if not match:
        return None
    first, second = (int(text) - 1 for text in match.groups())
    return (first, second) if 0 <= first < second < len(sentence.split()) else None


def _choose_swap(sentence: str) -> None:
    """Draw the choice of two words, and the button that swaps them."""
    session, words, chosen = page_session(), sentence.split(), _chosen_swap(sentence)
    if len(words) < 2 or embedding() is not None:
        return
    defaults = chosen or (min(1, len(words) - 2), max(len(words) - 2, min(1, len(words) - 2) + 1))
    names = {str(index): f"{index + 1} {shorten(word, 24)}" for index, word in enumerate(words)}
    with box("swap_words", row=True):
        labels = gettext("This word"), gettext("and this one")
        indices = []
        for name, default, label in zip((_FIRST_WORD, _SECOND_WORD), defaults, labels, strict=True):
            key = f"{name}_{len(words)}"
            if chosen:
                session[key] = str(default)
            index = select_box(label, names, key=key, default=str(default), disabled=chosen is not None, width=220)
            indices.append(int(index))
        request_button(
            gettext("Undo the swap" if chosen else "Swap them"),
            lambda: session.update({SWAP: None if chosen else ".".join(str(k + 1) for k in sorted(indices))}),
            key="swap_button",
            type="primary",
            disabled=indices[0] == indices[1],
        )
