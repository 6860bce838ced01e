"""Which words the tour tells of, and what is asked at its end, on translations whose looks are anything at all."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz.analysis.illustrative_words import CLEAR, LEAD, MOVED, WordAttention, illustrative_word, most_changed_word
from attnviz.analysis.quiz import KINDS, QUESTIONS, odds, questions
from attnviz.trace import Trace
from attnviz.trace.interventions import ExcludePosition
from tests.figures.synthetic import trace as make_trace

Array = NDArray[np.float64]
ENGLISH = ["The", "green", "house", "at", "the", "end", "of", "the", "street", "is", "very", "old", "."]
FRENCH = ["La", "maison", "verte", "à", "la", "fin", "de", "la", "rue", "est", "très", "vieille", "."]


def looking(source: str, target: str, shares: Array) -> Trace:
    """Return a trace whose steps look as `shares` say, (Ty, Tx), up to their sum."""
    trace = make_trace(source, target)
    rows = shares / shares.sum(axis=1, keepdims=True)
    return dataclasses.replace(trace, alignment=rows.astype(np.float32))


def at(target: str, places: list[int], share: float = 0.9) -> Trace:
    """Return a translation of `The green house .` whose words look at these source pieces, each with `share`."""
    shares = np.full((len(places), 5), (1 - share) / 4)
    shares[np.arange(len(places)), places] = share
    return looking("The green house .", target, shares)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Return translations of a few words, marks among them, with looks of every width."""
    source = draw(st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=8))
    target = draw(st.lists(st.sampled_from(FRENCH), min_size=1, max_size=8))
    trace = make_trace(" ".join(source), " ".join(target))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    width = draw(st.sampled_from((0.05, 0.3, 2.0)))
    return looking(
        " ".join(source),
        " ".join(target),
        rng.dirichlet([width] * trace.alignment.shape[1], size=len(trace.alignment)) + 1e-9,
    )


def posterior(trace: Trace, seed: int) -> Array:
    shape = trace.words().alignment.shape
    return np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])


@given(traces())
def test_the_word_of_the_tour_is_the_best_there_is(trace: Trace) -> None:
    words, told = trace.words(), illustrative_word(trace)
    first = [group[0] for group in words.target_groups]
    shares = np.stack([trace.alignment[first][:, list(group)].sum(axis=1) for group in words.source_groups], axis=1)
    looks = WordAttention(trace, shares)
    assert told.step == first[told.word]
    assert told.source == shares[told.word].argmax()
    sensible = [word for word in range(len(first)) if looks.makes_sense(word)]
    clear = [word for word in sensible if looks.is_clear(word)]
    crossing = [word for word in clear if looks.crosses(word)]
    for better in (sensible, clear, crossing):
        assert told.word in better or not better


@given(traces())
def test_a_clear_look_is_more_than_half_and_a_fifth_ahead(trace: Trace) -> None:
    looks = WordAttention(trace, trace.words().alignment)
    for word, row in enumerate(looks.shares):
        first, *others = sorted(map(float, row), reverse=True)
        if looks.is_clear(word):
            assert first >= CLEAR
            assert all(first - other >= LEAD - 1e-6 for other in others)


def test_words_that_change_places_are_told_of_first() -> None:
    straight, crossed = at("La verte maison .", [0, 1, 2, 3, 4]), at("La maison verte .", [0, 2, 1, 3, 4])
    looks = WordAttention(crossed, crossed.words().alignment)
    assert [looks.crosses(word) for word in range(5)] == [False, True, True, False, False]
    assert not any(WordAttention(straight, straight.words().alignment).crosses(word) for word in range(5))
    assert illustrative_word(crossed).word == 1
    assert illustrative_word(straight).word == 1  # article, mark and end tell less


def test_a_look_that_was_changed_by_hand_is_not_told_of() -> None:
    trace = at("La maison verte .", [0, 2, 1, 3, 4])
    changed = dataclasses.replace(trace, interventions=(ExcludePosition(2, step=1),))
    assert illustrative_word(changed).word == 2
    everywhere = dataclasses.replace(trace, interventions=tuple(ExcludePosition(2, step=i) for i in range(5)))
    assert illustrative_word(everywhere).word == 1  # all are changed: the best of them


@given(traces(), st.integers(0, 99))
def test_the_word_that_turned_moved_furthest_of_those_that_are_clear_then(trace: Trace, seed: int) -> None:
    after = posterior(trace, seed)
    before, word = trace.words().alignment, most_changed_word(trace, after)
    looks, later = WordAttention(trace, before), WordAttention(trace, after)
    moved = np.abs(after - before).sum(axis=1)
    fit = [k for k in range(len(before)) if looks.makes_sense(k) and later.makes_sense(k) and later.is_clear(k)]
    sides = trace.words()
    whole = [
        k
        for k in fit or range(len(before))
        if len(sides.target_groups[k]) == 1
        and moved[k] >= 2 * MOVED
        and all(len(sides.source_groups[look.sources[k]]) == 1 for look in (looks, later))
    ]
    assert moved[word] >= max(moved[whole or fit or range(len(before))]) - 1e-6
    assert word in fit or not fit
    assert word in whole or not whole


@given(traces(), st.one_of(st.none(), st.integers(0, 99)))
def test_questions_have_one_answer_and_are_of_as_many_kinds_as_there_are(trace: Trace, seed: int | None) -> None:
    after = None if seed is None else posterior(trace, seed)
    asked, words = questions(trace, after), trace.words()
    looks = WordAttention(trace, words.alignment)
    fit = [word for word in range(len(words.target)) if looks.makes_sense(word) and looks.is_clear(word)]
    assert len(asked) == min(len(fit), QUESTIONS)
    assert [one.word for one in asked] == sorted({one.word for one in asked})
    for one in asked:
        assert one.word in fit
        assert one.attended == (int(words.alignment[one.word].argmax()),)
        assert (one.meant == ()) == (after is None)
        assert one.kind in KINDS
        assert (one.kind == "crossed") == looks.crosses(one.word)
        if after is not None:
            assert set(one.meant) == set(np.flatnonzero(after[one.word] >= after[one.word].max() - 1e-6))
            assert one.kind != "turned" or not set(one.meant) & set(one.attended)
    texts = [words.target[one.word].lower() for one in asked]
    if len({words.target[word].lower() for word in fit}) >= QUESTIONS:
        assert len(set(texts)) == QUESTIONS, "a word twice"
        some = {one.kind for one in questions(trace, after, most=len(fit))}
        assert {one.kind for one in asked} <= some


@given(traces(), st.data())
def test_what_needs_no_guess_is_asked_only_where_there_is_too_little_else(trace: Trace, data: st.DataObject) -> None:
    words, looks = trace.words(), WordAttention(trace, trace.words().alignment)
    told = data.draw(st.sets(st.integers(0, len(words.target) - 1), max_size=3))
    asked = {one.word for one in questions(trace, None, most=2, answered=told)}
    fit = [word for word in range(len(words.target)) if looks.makes_sense(word) and looks.is_clear(word)]
    easy = {word for word in fit if words.target[word].lower() == words.source[looks.sources[word]].lower()} | told
    others = {words.target[word].lower() for word in fit if word not in easy}
    assert len(asked) == min(len(fit), 2)
    if len(others) >= 2:
        assert not asked & easy
    elif others:
        assert asked - easy, "an easy word first"


def test_a_word_spelled_alike_comes_after_the_others() -> None:
    alike = at("House verte la .", [2, 1, 0, 3, 4])
    assert [one.word for one in questions(alike, None, most=2)] == [1, 2]
    assert [one.word for one in questions(alike, None, most=3)] == [0, 1, 2]
    assert [one.word for one in questions(alike, None, most=1, answered={1})] == [2]


@given(traces(), st.integers(0, 99))
def test_chance_is_what_guessing_gives_on_average(trace: Trace, seed: int) -> None:
    asked = questions(trace, posterior(trace, seed))
    sources = len(trace.words().source)
    for by in ("attended", "meant"):
        guessed = [np.mean([guess in getattr(one, by) for guess in range(sources)]) for one in asked]
        np.testing.assert_allclose(getattr(odds(trace, asked), by), sum(guessed), atol=1e-12)
    assert 0 <= odds(trace, asked).diagonal <= len(asked)


def test_along_the_diagonal_a_straight_translation_is_all_right_and_a_crossed_one_not() -> None:
    straight, crossed = at("La verte maison .", [0, 1, 2, 3, 4]), at("La maison verte .", [0, 2, 1, 3, 4])
    assert odds(straight, questions(straight, None)).diagonal == 3
    assert odds(crossed, questions(crossed, None)).diagonal == 1


def test_of_a_sentence_of_one_word_one_is_asked_and_of_a_mark_none() -> None:
    word = looking("Hello", "Salut", np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert [one.word for one in questions(word, None)] == [0]
    mark = looking(".", ".", np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert questions(mark, None) == ()
    assert illustrative_word(mark).word in (0, 1)
    assert odds(mark, ()) == odds(word, ())
