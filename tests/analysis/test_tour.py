"""The tour: its example word and quiz questions, on translations with random attention, and its texts."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import ExcludePosition, Trace
from attnviz.analysis.labels import decimal, fine_percent, percent, quote
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
from attnviz.trace import Search
from tests.figures.synthetic import trace as make_trace

Array = NDArray[np.float64]
ENGLISH = ["The", "green", "house", "at", "the", "end", "of", "the", "street", "is", "very", "old", "."]
FRENCH = ["La", "maison", "verte", "à", "la", "fin", "de", "la", "rue", "est", "très", "vieille", "."]


def trace_with_attention(source: str, target: str, shares: Array) -> Trace:
    """Return a trace whose alignment is `shares`, (Ty, Tx), with rows scaled to sum to 1."""
    rows = shares / shares.sum(axis=1, keepdims=True)
    return dataclasses.replace(make_trace(source, target), alignment=rows.astype(np.float32))


def trace_attending_to(target: str, places: list[int]) -> Trace:
    """Return a translation of `The green house .` whose words give 90 % to these source pieces."""
    return trace_with_attention("The green house .", target, 0.025 + 0.875 * np.eye(5)[places])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Draw translations of a few words and punctuation marks, with sharp to flat attention."""
    source, target = (
        " ".join(draw(st.lists(st.sampled_from(side), min_size=1, max_size=8))) for side in (ENGLISH, FRENCH)
    )
    rows, columns = make_trace(source, target).alignment.shape
    rng, width = np.random.default_rng(draw(st.integers(0, 999))), draw(st.sampled_from((0.05, 0.3, 2.0)))
    return trace_with_attention(source, target, rng.dirichlet([width] * columns, size=rows) + 1e-9)


def random_posterior(trace: Trace, seed: int) -> Array:
    shape = trace.words().alignment.shape
    return np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])


@given(traces())
def test_illustrative_word_is_sensible_clear_and_crossing_if_possible(trace) -> None:
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
    straight = trace_attending_to("La verte maison .", [0, 1, 2, 3, 4])
    crossed = trace_attending_to("La maison verte .", [0, 2, 1, 3, 4])
    turned = trace_attending_to("Verte la maison .", [2, 0, 1, 3, 4])
    crossing = [
        [word for word in range(5) if WordAttention(trace, trace.words().alignment).crosses(word)]
        for trace in (straight, crossed, turned)
    ]
    assert crossing == [[], [1, 2], [0, 1]]
    assert illustrative_word(crossed).word == illustrative_word(straight).word == 1  # neither article nor mark
    assert TourData(crossed, None).crossed_word == 2


@given(traces(), st.integers(0, 99))
def test_most_changed_word_moved_furthest_among_clear_words(trace, seed: int) -> None:
    after, words = random_posterior(trace, seed), trace.words()
    moved, word = np.abs(after - words.alignment).sum(axis=1), most_changed_word(trace, after)
    now, later = WordAttention(trace, words.alignment), WordAttention(trace, after)
    fit = [k for k in range(len(moved)) if now.makes_sense(k) and later.makes_sense(k) and later.is_clear(k)]
    whole = [
        k
        for k in fit or range(len(moved))
        if {1} == {len(words.target_groups[k]), *(len(words.source_groups[one.sources[k]]) for one in (now, later))}
        and moved[k] >= 2 * MOVED
    ]
    best = whole or fit or range(len(moved))
    assert word in best
    assert moved[word] >= max(moved[best]) - 1e-6


@given(traces(), st.one_of(st.none(), st.integers(0, 99)), st.data())
def test_questions_have_one_answer_and_distinct_words_and_are_easy_only_as_a_last_resort(trace, seed, data) -> None:
    after = None if seed is None else random_posterior(trace, seed)
    asked, words = questions(trace, after), trace.words()
    attention, texts = WordAttention(trace, words.alignment), [word.lower() for word in words.target]
    fit = [word for word in range(len(texts)) if attention.makes_sense(word) and attention.is_clear(word)]
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
    if len({texts[word] for word in fit}) >= QUESTIONS:
        assert len({texts[one.word] for one in asked}) == QUESTIONS, "two questions about the same word"
    chosen = data.draw(st.sets(st.integers(0, len(texts) - 1), max_size=3))
    again = {one.word for one in questions(trace, None, most=2, answered=chosen)}
    easy = {word for word in fit if texts[word] == words.source[attention.sources[word]].lower()} | chosen
    others = {texts[word] for word in fit if word not in easy}
    assert len(again) == min(len(fit), 2)
    assert len(again - easy) >= min(len(others), 2)


def tour_data(trace: Trace, seed: int | None = 3) -> TourData:
    """Return the tour data of `trace`, with a random posterior unless `seed` is None."""
    return TourData(trace, None if seed is None else random_posterior(trace, seed))


def without_marks(sentence: str) -> str:
    return "".join(text for _, text in coloured_parts(sentence))


def texts(data: TourData) -> dict[int, str]:
    return {stop.number: without_marks(" ".join(stop.sentences)) for stop in tour_stops(data)}


@given(st.lists(st.tuples(st.sampled_from(["", "source", "target", "context"]), st.text(min_size=1, max_size=9))))
def test_coloured_sentence_keeps_its_text_and_coloured_words(parts) -> None:
    clean = [(kind, re.sub("[\x01-\x04]", "", text)) for kind, text in parts]
    sentence = "".join(coloured(text, kind) if kind else text for kind, text in clean)  # type: ignore[arg-type]
    found = coloured_parts(sentence)
    assert "".join(text for _, text in found) == "".join(text for _, text in clean)
    assert [one for one in found if all(one)] == [one for one in clean if all(one)]


@given(st.integers(0, 50))
def test_mixing_is_shown_where_a_second_word_counts_most(seed: int) -> None:
    data = tour_data(make_trace(seed=seed))
    alpha, pieces = data.record.alignment, data.record.target_pieces
    seconds = np.sort(alpha)[:, -2] * [bool(re.search(r"\w", piece)) and piece != "</s>" for piece in pieces]
    assert data.mixed_step == (seconds.argmax() if seconds.max() >= LEAST_SECOND else data.word.step)
    stop = tour_stops(data)[MIXTURE_STOP - 1]
    assert stop.step == data.mixed_step
    assert percent(float(alpha[stop.step].max())) in without_marks(" ".join(stop.sentences))


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_every_stop_has_sentences_or_a_reason_why_it_is_missing(each_language, attention: str, snapshot) -> None:
    data = tour_data(make_trace(attention=attention))
    assert texts(data) == snapshot
    stops = tour_stops(data)
    assert [stop.number for stop in stops] == list(stop_titles(data.record))[:-1]
    assert [one.number for one in stops if one.missing] == [3, SOFTMAX_STOP, POSTERIOR_STOP] * (attention == "none")
    for stop in stops:
        assert 1 <= len(stop.sentences) <= 3
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
        assert decimal(float(e[j]), 2) in stop_texts[3]
    high, low = (round(float(e[j]), 2) for j in order[:2])
    if np.exp(high - low) >= 1.05:  # the weights are not nearly the same
        assert decimal(high - low, 2) in stop_texts[SOFTMAX_STOP]  # the difference is that of the numbers as written
        assert fine_percent(float(alpha.max())) in stop_texts[SOFTMAX_STOP]
        assert f"exp({decimal(round(high - low, 2))}) = " in stop_texts[SOFTMAX_STOP]
        assert stop_texts[SOFTMAX_STOP].count("100\u00a0%") == 1
    assert percent(float(trace.alignment[data.mixed_step].max())) in stop_texts[MIXTURE_STOP]
    assert percent(float(trace.probabilities[step])) in stop_texts[6]
    assert data.posterior_weights is not None
    after = data.posterior_weights[data.posterior_word]
    assert percent(float(after.max())) in stop_texts[POSTERIOR_STOP]
    assert percent(float(words.alignment[data.posterior_word][after.argmax()])) in stop_texts[POSTERIOR_STOP]


def test_sentences_about_special_translations(each_language, snapshot) -> None:
    trace, short = make_trace(), make_trace("The green house .", "La maison verte .")
    changed = tour_stops(tour_data(dataclasses.replace(trace, interventions=(ExcludePosition(0),))))[SOFTMAX_STOP - 1]
    without = tour_stops(tour_data(trace, None))[POSTERIOR_STOP - 1]
    assert changed.missing
    assert without.missing
    asked = questions(short, None)
    by_chance = chance_sentence(chance_score(short, asked), len(asked), after=False)
    assert decimal(len(asked) / len(short.words().source), 1) in by_chance
    assert len(stop_titles(short)) == QUIZ_STOP
    assert {
        "given": texts(tour_data(dataclasses.replace(trace, search=Search("forced"))))[1],
        "changed by hand": without_marks(changed.sentences[0]),
        "without its model": without_marks(without.sentences[0]),
        "no attention": quiz_introduction(tour_data(make_trace(attention="none")), ()),
        "no question": quiz_introduction(tour_data(trace), ()),
        "by chance": by_chance,
    } == snapshot
