"""Sentences about findings: they state what was measured and checked, and no more."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.findings import (
    Finding,
    FindingKind,
    finding_sentence,
    findings_of,
    nothing_found_text,
    step_attention_sentence,
    summarise,
    summary_sentence,
)
from attnviz.analysis.numbers import percent
from attnviz.architectures import narrate
from attnviz.text import SPACE
from attnviz.ui.components.findings import findings_payload
from tests.figures.synthetic import trace as make_trace
from tests.snapshots import without_numbers

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


@EACH_LANGUAGE
def test_model_without_attention_reports_no_omitted_words(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .", attention="none")
    chances = np.zeros_like(trace.log_probabilities)
    record = findings_payload(dataclasses.replace(trace, log_probabilities=chances))
    assert record["findings"] == []
    assert record["summary"] == snapshot


@EACH_LANGUAGE
def test_unknown_characters_are_named(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    unreadable = nothing_found_text(dataclasses.replace(trace, unknown_characters=("😀", "🎉")))
    assert unreadable.removeprefix(nothing_found_text(trace)) == snapshot


@EACH_LANGUAGE
def test_only_a_strong_finding_mentions_a_mistake(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    weak, strong = (
        finding_sentence(trace, Finding(FindingKind.OVERUSED, 3.4, source=1, strong=strong)) for strong in (False, True)
    )
    assert weak == snapshot(name="weak")
    assert strong == snapshot(name="strong")


@EACH_LANGUAGE
def test_omitted_span_is_quoted_whole(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    sentence = finding_sentence(trace, Finding(FindingKind.OMITTED, 0.05, source=0, last=2, strong=True))
    assert sentence == snapshot


@EACH_LANGUAGE
def test_identically_spelled_word_is_not_called_copied(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("In Paris all sleep .", "À Paris tous dorment .")
    sentence = finding_sentence(trace, Finding(FindingKind.IDENTICAL, 0.83, target=1, source=1))
    assert sentence == snapshot


@EACH_LANGUAGE
def test_both_numbers_are_quoted(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("about 42% agree", "environ 400 sont")
    (finding,) = [found for found in findings_of(trace) if found.kind is FindingKind.NUMBER]
    assert finding_sentence(trace, finding) == snapshot


@EACH_LANGUAGE
def test_an_improbable_piece_is_named(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("small cat", "extraordinaire chat")  # "extr" + "aordinaire"
    chances = np.log(np.array([0.9, 0.02, 0.9, 0.9], dtype=np.float32))
    trace = dataclasses.replace(trace, log_probabilities=chances)
    (finding,) = [found for found in findings_of(trace) if found.kind is FindingKind.IMPROBABLE]
    assert finding_sentence(trace, finding) == snapshot


@EACH_LANGUAGE
def test_improbable_foil_is_written_as_less_than_one_per_cent(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    top = np.full_like(trace.top_probabilities, 0.0004)
    chances = np.log(np.full(5, 0.95, dtype=np.float32))
    sentence = step_attention_sentence(dataclasses.replace(trace, top_probabilities=top, log_probabilities=chances), 0)
    assert percent(0.0004) in sentence
    assert " 0\u00a0%" not in sentence
    assert without_numbers(sentence) == snapshot


@EACH_LANGUAGE
def test_apostrophe_is_named_in_words(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    pieces = (trace.target_pieces[0], "'", SPACE + ".", *trace.target_pieces[3:])
    trace = dataclasses.replace(trace, target_pieces=pieces)
    assert [step_attention_sentence(trace, step).partition(".")[0] for step in (1, 2)] == snapshot


@EACH_LANGUAGE
def test_nothing_is_said_to_be_looked_at_most_where_attention_is_uniform(snapshot: SnapshotAssertion) -> None:
    trace = make_trace()
    uniform = dataclasses.replace(trace, alignment=np.full_like(trace.alignment, 1 / trace.alignment.shape[1]))
    assert summary_sentence(summarise(uniform)) == snapshot(name="summary")
    assert step_attention_sentence(uniform, 1) == snapshot(name="step")
    assert [stage.outcome for stage in narrate(uniform, 1, simple=True)][1] == snapshot(name="outcome")
    assert [stage.sentence for stage in narrate(uniform, 1, simple=True)][1] == snapshot(name="sentence")
