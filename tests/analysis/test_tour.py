"""The tour: its example word and quiz questions, on translations with random attention, and its texts."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.labels import quote
from attnviz.analysis.numbers import decimal, fine_percent, percent
from attnviz.analysis.tour import MIXTURE_STOP, POSTERIOR_STOP, QUIZ_STOP, SOFTMAX_STOP, stop_titles, tour_stops
from attnviz.analysis.tour_data import (
    LEAST_SECOND,
    MOVED,
    QUESTION_KINDS,
    QUESTIONS,
    TourData,
    WordAttention,
    chance_score,
    chance_sentence,
    coloured,
    coloured_parts,
    illustrative_word,
    most_changed_word,
    questions,
    quiz_introduction,
)
from attnviz.languages import set_language
from attnviz.trace import Search, Trace
from attnviz.trace.interventions import ExcludePosition
from tests.figures.synthetic import trace as make_trace

Array = NDArray[np.float64]
ENGLISH = ["The", "green", "house", "at", "the", "end", "of", "the", "street", "is", "very", "old", "."]
FRENCH = ["La", "maison", "verte", "à", "la", "fin", "de", "la", "rue", "est", "très", "vieille", "."]


def trace_with_attention(source: str, target: str, shares: Array) -> Trace:
    """Return a trace whose alignment is `shares`, (Ty, Tx), with rows scaled to sum to 1."""
    trace = make_trace(source, target)
    rows = shares / shares.sum(axis=1, keepdims=True)
    return dataclasses.replace(trace, alignment=rows.astype(np.float32))


def trace_attending_to(target: str, places: list[int], share: float = 0.9) -> Trace:
    """Return a translation of `The green house .` whose words give the weight `share` to these source pieces."""
    shares = np.full((len(places), 5), (1 - share) / 4)
    shares[np.arange(len(places)), places] = share
    return trace_with_attention("The green house .", target, shares)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Draw translations of a few words and punctuation marks, with sharp to flat attention."""
    source = draw(st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=8))
    target = draw(st.lists(st.sampled_from(FRENCH), min_size=1, max_size=8))
    trace = make_trace(" ".join(source), " ".join(target))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    width = draw(st.sampled_from((0.05, 0.3, 2.0)))
    return trace_with_attention(
        " ".join(source),
        " ".join(target),
        rng.dirichlet([width] * trace.alignment.shape[1], size=len(trace.alignment)) + 1e-9,
    )


def random_posterior(trace: Trace, seed: int) -> Array:
    shape = trace.words().alignment.shape
    return np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])


@given(traces())
def test_illustrative_word_is_sensible_clear_and_crossing_if_possible(trace: Trace) -> None:
    words, chosen = trace.words(), illustrative_word(trace)
    first = [group[0] for group in words.target_groups]
    shares = np.stack([trace.alignment[first][:, list(group)].sum(axis=1) for group in words.source_groups], axis=1)
    attention = WordAttention(trace, shares)
    assert chosen.step == first[chosen.word]
    assert chosen.source == shares[chosen.word].argmax()
    sensible = [word for word in range(len(first)) if attention.makes_sense(word)]
    clear = [word for word in sensible if attention.is_clear(word)]
    crossing = [word for word in clear if attention.crosses(word)]
    for better in (sensible, clear, crossing):
        assert chosen.word in better or not better


def test_illustrative_word_prefers_crossing_words() -> None:
    straight, crossed = (
        trace_attending_to("La verte maison .", [0, 1, 2, 3, 4]),
        trace_attending_to("La maison verte .", [0, 2, 1, 3, 4]),
    )
    attention = WordAttention(crossed, crossed.words().alignment)
    assert [attention.crosses(word) for word in range(5)] == [False, True, True, False, False]
    assert not any(WordAttention(straight, straight.words().alignment).crosses(word) for word in range(5))
    assert illustrative_word(crossed).word == 1
    assert TourData(crossed, None).crossed_word == 2
    turned = trace_attending_to("Verte la maison .", [2, 0, 1, 3, 4])
    assert [WordAttention(turned, turned.words().alignment).crosses(word) for word in range(3)] == [True, True, False]
    assert illustrative_word(straight).word == 1  # article, punctuation and end mark are less illustrative


@given(traces(), st.integers(0, 99))
def test_most_changed_word_moved_furthest_among_clear_words(trace: Trace, seed: int) -> None:
    after = random_posterior(trace, seed)
    before, word = trace.words().alignment, most_changed_word(trace, after)
    attention, attention_after = WordAttention(trace, before), WordAttention(trace, after)
    moved = np.abs(after - before).sum(axis=1)
    fit = [
        k
        for k in range(len(before))
        if attention.makes_sense(k) and attention_after.makes_sense(k) and attention_after.is_clear(k)
    ]
    sides = trace.words()
    whole = [
        k
        for k in fit or range(len(before))
        if len(sides.target_groups[k]) == 1
        and moved[k] >= 2 * MOVED
        and all(len(sides.source_groups[look.sources[k]]) == 1 for look in (attention, attention_after))
    ]
    assert moved[word] >= max(moved[whole or fit or range(len(before))]) - 1e-6
    assert word in fit or not fit
    assert word in whole or not whole


@given(traces(), st.one_of(st.none(), st.integers(0, 99)))
def test_questions_have_one_answer_and_distinct_words(trace: Trace, seed: int | None) -> None:
    after = None if seed is None else random_posterior(trace, seed)
    asked, words = questions(trace, after), trace.words()
    attention = WordAttention(trace, words.alignment)
    fit = [word for word in range(len(words.target)) if attention.makes_sense(word) and attention.is_clear(word)]
    assert len(asked) == min(len(fit), QUESTIONS)
    assert [one.word for one in asked] == sorted({one.word for one in asked})
    for one in asked:
        assert one.word in fit
        assert one.attended == (int(words.alignment[one.word].argmax()),)
        assert (one.meant == ()) == (after is None)
        assert one.kind in QUESTION_KINDS
        assert (one.kind == "crossed") == attention.crosses(one.word)
        if after is not None:
            assert set(one.meant) == set(np.flatnonzero(after[one.word] >= after[one.word].max() - 1e-6))
            assert one.kind != "turned" or not set(one.meant) & set(one.attended)
    texts = [words.target[one.word].lower() for one in asked]
    if len({words.target[word].lower() for word in fit}) >= QUESTIONS:
        assert len(set(texts)) == QUESTIONS, "two questions about the same word"
        some = {one.kind for one in questions(trace, after, most=len(fit))}
        assert {one.kind for one in asked} <= some


@given(traces(), st.data())
def test_easy_questions_are_asked_only_as_a_last_resort(trace: Trace, data: st.DataObject) -> None:
    words, attention = trace.words(), WordAttention(trace, trace.words().alignment)
    chosen = data.draw(st.sets(st.integers(0, len(words.target) - 1), max_size=3))
    asked = {one.word for one in questions(trace, None, most=2, answered=chosen)}
    fit = [word for word in range(len(words.target)) if attention.makes_sense(word) and attention.is_clear(word)]
    easy = {
        word for word in fit if words.target[word].lower() == words.source[attention.sources[word]].lower()
    } | chosen
    others = {words.target[word].lower() for word in fit if word not in easy}
    assert len(asked) == min(len(fit), 2)
    if len(others) >= 2:
        assert not asked & easy
    elif others:
        assert asked - easy, "an easy word was asked although others are left"


EACH_LANGUAGE = pytest.mark.usefixtures("each_language")
KINDS = pytest.mark.parametrize("attention", ["additive", "general", "none"])


def tour_data(trace: Trace, seed: int | None = 3) -> TourData:
    """Return the tour data of `trace`, with a random posterior unless `seed` is None."""
    shape = trace.words().alignment.shape
    after = None if seed is None else np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])
    return TourData(trace, after)


def without_marks(sentence: str) -> str:
    return "".join(text for _, text in coloured_parts(sentence))


def texts(data: TourData) -> dict[int, str]:
    return {stop.number: without_marks(" ".join(stop.sentences)) for stop in tour_stops(data)}


@given(st.lists(st.tuples(st.sampled_from(["", "source", "target", "context"]), st.text(min_size=1, max_size=9))))
def test_coloured_sentence_keeps_its_text_and_coloured_words(parts: list[tuple[str, str]]) -> None:
    clean = [(kind, re.sub("[\x01-\x04]", "", text)) for kind, text in parts]
    sentence = "".join(coloured(text, kind) if kind else text for kind, text in clean)  # type: ignore[arg-type]
    found = coloured_parts(sentence)
    assert "".join(text for _, text in found) == "".join(text for _, text in clean)
    assert [one for one in found if all(one)] == [one for one in clean if all(one)]


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
