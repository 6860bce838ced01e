"""What the tour says: its numbers are those of the translation, and what there is not it says plainly."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.quiz import odds, questions
from attnviz.languages import set_language
from attnviz.trace import Search, Trace
from attnviz.trace.interventions import ExcludePosition
from attnviz.wording.coloured_text import coloured, plain, spans
from attnviz.wording.labels import quote
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.quiz import chance_sentence, explained, opening, quiz_words
from attnviz.wording.tour import AFTER, PULL, QUIZ, stop_titles, tour_stops
from attnviz.wording.tour_data import TourData
from tests.figures.synthetic import trace as make_trace

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")
KINDS = pytest.mark.parametrize("attention", ["additive", "general", "none"])


def told_of(trace: Trace, seed: int | None = 3) -> TourData:
    """Return what the tour tells of `trace`, with a posterior unless there is no `seed`."""
    shape = trace.words().alignment.shape
    after = None if seed is None else np.random.default_rng(seed).dirichlet([0.3] * shape[1], size=shape[0])
    return TourData(trace, after)


def texts(told: TourData) -> dict[int, str]:
    return {stop.number: plain(" ".join(stop.sentences)) for stop in tour_stops(told)}


@given(st.lists(st.tuples(st.sampled_from(["", "source", "target", "context"]), st.text(min_size=1, max_size=9))))
def test_a_sentence_keeps_its_text_and_its_words_their_colours(parts: list[tuple[str, str]]) -> None:
    clean = [(kind, re.sub("[\x01-\x04]", "", text)) for kind, text in parts]
    sentence = "".join(coloured(text, kind) if kind else text for kind, text in clean)  # type: ignore[arg-type]
    found = spans(sentence)
    assert "".join(text for _, text in found) == "".join(text for _, text in clean) == plain(sentence)
    assert [one for one in found if one[0]] == [one for one in clean if one[0] and one[1]]


@KINDS
@pytest.mark.parametrize("code", ["en", "fr"])
def test_every_stop_is_told_or_says_why_not(attention: str, code: str, snapshot: SnapshotAssertion) -> None:
    set_language(code)
    told = told_of(make_trace(attention=attention))
    assert texts(told) == snapshot
    stops = tour_stops(told)
    assert [stop.number for stop in stops] == list(stop_titles())[:-1]
    assert [stop.number for stop in stops if stop.missing] == ([3, PULL, AFTER] if attention == "none" else [])
    for stop in stops:
        assert 1 <= len(stop.sentences) <= 3
        assert all(sentence and not re.search(r"[{}]", sentence) for sentence in stop.sentences)
        assert bool(stop.place) != stop.missing


@given(st.integers(0, 200))
def test_the_numbers_are_those_of_the_translation(seed: int) -> None:
    trace = make_trace(seed=seed)
    told = told_of(trace, seed)
    said, step = texts(told), told.word.step
    words, alpha, e = trace.words(), trace.alignment[step], trace.energies[step]
    shares = [float(alpha[list(group)].sum()) for group in words.source_groups]
    assert percent(max(shares)) in said[1]
    assert quote(words.source[told.word.source]) in said[1]
    assert str(trace.annotations.shape[1]) in said[2]
    order = np.argsort(-e, kind="stable")
    for j in (order[0], order[1], order[-1]):
        assert decimal(float(e[j]), 1) in said[3]
    assert decimal(float(e[order[0]] - e[order[1]]), 1) in said[PULL]
    assert percent(float(alpha.max())) in said[PULL]
    assert percent(float(alpha.max())) in said[5]
    assert percent(float(trace.probabilities[step])) in said[6]
    assert told.after is not None
    after = told.after[told.posterior_word]
    assert percent(float(after.max())) in said[AFTER]
    assert percent(float(words.alignment[told.posterior_word][after.argmax()])) in said[AFTER]


@EACH_LANGUAGE
def test_what_was_given_or_changed_by_hand_is_told_so(snapshot: SnapshotAssertion) -> None:
    trace = make_trace()
    forced = dataclasses.replace(trace, search=Search("forced"))
    assert texts(told_of(forced))[1] == snapshot(name="given")
    changed = dataclasses.replace(trace, interventions=(ExcludePosition(0),))
    stop = tour_stops(told_of(changed))[PULL - 1]
    assert stop.missing
    assert plain(stop.sentences[0]) == snapshot(name="changed by hand")
    without = tour_stops(told_of(trace, None))[AFTER - 1]
    assert without.missing
    assert plain(without.sentences[0]) == snapshot(name="without its model")


@given(st.integers(0, 200), st.booleans())
def test_answers_are_explained_by_their_numbers(seed: int, known: bool) -> None:
    told = told_of(make_trace("The green house .", "La maison verte .", seed=seed), seed if known else None)
    for one in questions(told.record, told.after):
        text = plain(explained(told, one))
        assert percent(float(told.record.words().alignment[one.word].max())) in text
        assert f"“{told.record.words().source[one.attended[0]]}”" in text
        if told.after is not None:
            assert percent(float(told.after[one.word].max())) in text
    assert bool(quiz_words(told)["later"]) == known


@EACH_LANGUAGE
def test_where_nothing_can_be_asked_it_is_said(snapshot: SnapshotAssertion) -> None:
    assert opening(told_of(make_trace(attention="none")), ()) == snapshot(name="no attention")
    assert opening(told_of(make_trace()), ()) == snapshot(name="no question")
    trace = make_trace("The green house .", "La maison verte .")
    asked = questions(trace, None)
    chances = odds(trace, asked)
    said = chance_sentence(chances, len(asked), after=False)
    assert decimal(len(asked) / len(trace.words().source), 1) in said
    assert said == snapshot(name="by chance")
    assert len(stop_titles()) == QUIZ
