"""Selection of the tour's example word and quiz questions, on translations with random attention."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz.analysis.tour_data import (
    CLEAR,
    LEAD,
    MOVED,
    QUESTION_KINDS,
    QUESTIONS,
    WordAttention,
    chance_score,
    illustrative_word,
    most_changed_word,
    questions,
)
from attnviz.trace import Trace
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


@given(traces())
def test_clear_attention_exceeds_the_threshold_and_the_lead(trace: Trace) -> None:
    attention = WordAttention(trace, trace.words().alignment)
    for word, row in enumerate(attention.shares):
        first, *others = sorted(map(float, row), reverse=True)
        if attention.is_clear(word):
            assert first >= CLEAR
            assert all(first - other >= LEAD - 1e-6 for other in others)


def test_illustrative_word_prefers_crossing_words() -> None:
    straight, crossed = (
        trace_attending_to("La verte maison .", [0, 1, 2, 3, 4]),
        trace_attending_to("La maison verte .", [0, 2, 1, 3, 4]),
    )
    attention = WordAttention(crossed, crossed.words().alignment)
    assert [attention.crosses(word) for word in range(5)] == [False, True, True, False, False]
    assert not any(WordAttention(straight, straight.words().alignment).crosses(word) for word in range(5))
    assert illustrative_word(crossed).word == 1
    assert illustrative_word(straight).word == 1  # article, punctuation and end mark are less illustrative


def test_illustrative_word_avoids_edited_steps() -> None:
    trace = trace_attending_to("La maison verte .", [0, 2, 1, 3, 4])
    changed = dataclasses.replace(trace, interventions=(ExcludePosition(2, step=1),))
    assert illustrative_word(changed).word == 2
    everywhere = dataclasses.replace(trace, interventions=tuple(ExcludePosition(2, step=i) for i in range(5)))
    assert illustrative_word(everywhere).word == 1  # every step is edited: the best of them


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


def test_words_with_identical_spelling_are_asked_last() -> None:
    alike = trace_attending_to("House verte la .", [2, 1, 0, 3, 4])
    assert [one.word for one in questions(alike, None, most=2)] == [1, 2]
    assert [one.word for one in questions(alike, None, most=3)] == [0, 1, 2]
    assert [one.word for one in questions(alike, None, most=1, answered={1})] == [2]


def test_words_that_attend_elsewhere_are_asked_before_those_at_their_own_position() -> None:
    crossed = trace_attending_to("La maison verte", [0, 2, 1, 4])
    assert [one.word for one in questions(crossed, None, most=2)] == [1, 2]
    repeated = trace_attending_to("La verte la maison", [0, 1, 1, 2, 4])
    assert [one.word for one in questions(repeated, None, most=2)] == [2, 3], "of two equal words, the harder one"


def test_words_with_divided_attention_are_asked_before_those_with_one_source() -> None:
    shares = 0.01 + 0.95 * np.eye(5)
    shares[2, [1, 2]] = 0.27, 0.7
    divided = trace_with_attention("The green house .", "La verte maison .", shares)
    assert [one.word for one in questions(divided, None, most=1)] == [2]


@given(traces(), st.integers(0, 99))
def test_odds_match_the_average_of_all_guesses(trace: Trace, seed: int) -> None:
    asked = questions(trace, random_posterior(trace, seed))
    sources = len(trace.words().source)
    for by in ("attended", "meant"):
        guessed = [np.mean([guess in getattr(one, by) for guess in range(sources)]) for one in asked]
        np.testing.assert_allclose(getattr(chance_score(trace, asked), by), sum(guessed), atol=1e-12)
    assert 0 <= chance_score(trace, asked).diagonal <= len(asked)


def test_diagonal_odds_are_lower_for_a_crossed_translation() -> None:
    straight, crossed = (
        trace_attending_to("La verte maison .", [0, 1, 2, 3, 4]),
        trace_attending_to("La maison verte .", [0, 2, 1, 3, 4]),
    )
    assert chance_score(straight, questions(straight, None)).diagonal == 3
    assert chance_score(crossed, questions(crossed, None)).diagonal == 1


def test_a_word_gives_one_question_and_punctuation_gives_no_question() -> None:
    word = trace_with_attention("Hello", "Salut", np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert [one.word for one in questions(word, None)] == [0]
    mark = trace_with_attention(".", ".", np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert questions(mark, None) == ()
    assert illustrative_word(mark).word in (0, 1)
    assert chance_score(mark, ()) == chance_score(word, ())
