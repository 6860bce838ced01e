"""Texts of the tour: they have the numbers of the translation, and say what is unavailable."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.labels import quote
from attnviz.analysis.numbers import decimal, fine_percent, percent
from attnviz.analysis.tour import (
    MIXTURE_STOP,
    POSTERIOR_STOP,
    QUIZ_STOP,
    SOFTMAX_STOP,
    answer_explanation,
    chance_sentence,
    quiz_introduction,
    quiz_labels,
    stop_titles,
    tour_stops,
)
from attnviz.analysis.tour_data import (
    LEAST_SECOND,
    TourData,
    chance_score,
    coloured,
    coloured_parts,
    questions,
    without_marks,
)
from attnviz.languages import set_language
from attnviz.trace import Search, Trace
from attnviz.trace.interventions import ExcludePosition
from tests.figures.synthetic import trace as make_trace

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")
KINDS = pytest.mark.parametrize("attention", ["additive", "general", "none"])


def tour_data(trace: Trace, seed: int | None = 3) -> TourData:
    """Return the tour data of `trace`, with a random posterior unless `seed` is None."""
    shape = trace.words().alignment.shape
    after = None if seed is None else np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])
    return TourData(trace, after)


def texts(data: TourData) -> dict[int, str]:
    return {stop.number: without_marks(" ".join(stop.sentences)) for stop in tour_stops(data)}


@given(st.lists(st.tuples(st.sampled_from(["", "source", "target", "context"]), st.text(min_size=1, max_size=9))))
def test_coloured_sentence_keeps_its_text_and_coloured_words(parts: list[tuple[str, str]]) -> None:
    clean = [(kind, re.sub("[\x01-\x04]", "", text)) for kind, text in parts]
    sentence = "".join(coloured(text, kind) if kind else text for kind, text in clean)  # type: ignore[arg-type]
    found = coloured_parts(sentence)
    assert "".join(text for _, text in found) == "".join(text for _, text in clean) == without_marks(sentence)
    assert [one for one in found if one[0]] == [one for one in clean if one[0] and one[1]]


@given(st.integers(0, 50))
def test_mixing_is_shown_where_a_second_word_counts_most(seed: int) -> None:
    data = tour_data(make_trace(seed=seed))
    pieces = data.record.target_pieces
    seconds = [
        sorted(row)[-2] if re.search(r"\w", piece) and piece != "</s>" else 0.0
        for row, piece in zip(data.record.alignment.tolist(), pieces, strict=True)
    ]
    best = max(seconds)
    assert data.mixed_step == (seconds.index(best) if best >= LEAST_SECOND else data.word.step)
    stop = next(stop for stop in tour_stops(data) if stop.number == MIXTURE_STOP)
    assert stop.step == data.mixed_step
    shares = sorted(data.record.alignment[stop.step].tolist(), reverse=True)
    assert percent(shares[0]) in without_marks(" ".join(stop.sentences))


@KINDS
@pytest.mark.parametrize("code", ["en", "fr"])
def test_every_stop_has_sentences_or_a_reason_why_it_is_missing(
    attention: str, code: str, snapshot: SnapshotAssertion
) -> None:
    set_language(code)
    data = tour_data(make_trace(attention=attention))
    assert texts(data) == snapshot
    stops = tour_stops(data)
    assert [stop.number for stop in stops] == list(stop_titles(data.record))[:-1]
    assert [stop.number for stop in stops if stop.missing] == (
        [3, SOFTMAX_STOP, POSTERIOR_STOP] if attention == "none" else []
    )
    for stop in stops:
        assert 1 <= len(stop.sentences) <= 3
        assert all(sentence and not re.search(r"[{}]", sentence) for sentence in stop.sentences)
        assert bool(stop.place) != stop.missing


@given(st.integers(0, 200))
def test_sentences_have_the_numbers_of_the_translation(seed: int) -> None:
    trace = make_trace(seed=seed)
    data = tour_data(trace, seed)
    stop_texts, step = texts(data), data.word.step
    words, alpha, e = trace.words(), trace.alignment[step], trace.energies[step]
    shares = [float(alpha[list(group)].sum()) for group in words.source_groups]
    assert percent(max(shares)) in stop_texts[1]
    assert quote(words.source[data.word.source]) in stop_texts[1]
    assert str(trace.annotations.shape[1]) in stop_texts[2]
    order = np.argsort(-e, kind="stable")
    for j in (order[0], order[1], order[-1]):
        assert decimal(float(e[j]), 1) in stop_texts[3]
    high, low = (round(float(e[j]), 2) for j in order[:2])
    for number in (high, low, high - low):  # the difference is that of the numbers as written
        assert decimal(number, 2) in stop_texts[SOFTMAX_STOP]
    assert fine_percent(float(alpha.max())) in stop_texts[SOFTMAX_STOP]
    assert percent(float(trace.alignment[data.mixed_step].max())) in stop_texts[MIXTURE_STOP]
    assert percent(float(trace.probabilities[step])) in stop_texts[6]
    assert data.posterior_weights is not None
    after = data.posterior_weights[data.posterior_word]
    assert percent(float(after.max())) in stop_texts[POSTERIOR_STOP]
    assert percent(float(words.alignment[data.posterior_word][after.argmax()])) in stop_texts[POSTERIOR_STOP]


@given(st.integers(0, 200))
def test_words_that_the_stops_explain_are_not_asked_first(seed: int) -> None:
    data = tour_data(make_trace("The green house .", "La maison verte .", seed=seed), seed)
    stops = tour_stops(data)
    named = {
        word for word in range(len(data.record.words().target)) if data.target(word) in " ".join(stops[0].sentences)
    }
    assert named <= data.explained_words
    groups = data.record.words().target_groups
    assert any(data.mixed_step in groups[word] for word in data.explained_words)
    assert data.posterior_word in data.explained_words
    most = len({one.word for one in questions(data.record, data.posterior_weights)} - data.explained_words)
    asked = questions(data.record, data.posterior_weights, most=most, answered=data.explained_words)
    assert not {one.word for one in asked} & data.explained_words


@EACH_LANGUAGE
def test_given_translations_and_interventions_are_mentioned(snapshot: SnapshotAssertion) -> None:
    trace = make_trace()
    forced = dataclasses.replace(trace, search=Search("forced"))
    assert texts(tour_data(forced))[1] == snapshot(name="given")
    changed = dataclasses.replace(trace, interventions=(ExcludePosition(0),))
    stop = tour_stops(tour_data(changed))[SOFTMAX_STOP - 1]
    assert stop.missing
    assert without_marks(stop.sentences[0]) == snapshot(name="changed by hand")
    without = tour_stops(tour_data(trace, None))[POSTERIOR_STOP - 1]
    assert without.missing
    assert without_marks(without.sentences[0]) == snapshot(name="without its model")


@given(st.integers(0, 200), st.booleans())
def test_quiz_answers_are_explained_by_their_weights(seed: int, known: bool) -> None:
    data = tour_data(make_trace("The green house .", "La maison verte .", seed=seed), seed if known else None)
    for one in questions(data.record, data.posterior_weights):
        text = without_marks(answer_explanation(data, one))
        assert fine_percent(float(data.record.words().alignment[one.word].max())) in text
        assert f"“{data.record.words().source[one.attended[0]]}”" in text
        if data.posterior_weights is not None:
            assert fine_percent(float(data.posterior_weights[one.word].max())) in text
    assert bool(quiz_labels(data)["later"]) == known


@EACH_LANGUAGE
def test_opening_says_when_there_is_no_quiz_question(snapshot: SnapshotAssertion) -> None:
    assert quiz_introduction(tour_data(make_trace(attention="none")), ()) == snapshot(name="no attention")
    assert quiz_introduction(tour_data(make_trace()), ()) == snapshot(name="no question")
    trace = make_trace("The green house .", "La maison verte .")
    asked = questions(trace, None)
    chances = chance_score(trace, asked)
    sentence = chance_sentence(chances, len(asked), after=False)
    assert decimal(len(asked) / len(trace.words().source), 1) in sentence
    assert sentence == snapshot(name="by chance")
    assert len(stop_titles(trace)) == QUIZ_STOP
