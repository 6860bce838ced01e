"""What is said of findings claims what was measured and checked, and no more."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from attnviz.analysis.findings import Finding, Kind, findings_of
from attnviz.text import SPACE
from attnviz.ui.components.findings.findings import findings_record
from attnviz.wording.findings import finding_sentence, nothing_found, step_look
from tests.figures.synthetic import trace as make_trace


def test_without_attention_nothing_is_said_of_words_left_out() -> None:
    trace = make_trace("one two three .", "un deux trois .", attention="none")
    chances = np.zeros_like(trace.log_probabilities)
    record = findings_record(dataclasses.replace(trace, log_probabilities=chances))
    assert record["findings"] == []
    assert "No word was improbable." in record["summary"]
    assert "cannot be told without attention" in record["summary"]


def test_what_cannot_be_read_is_named() -> None:
    trace = make_trace("one two three .", "un deux trois .")
    assert "cannot read" not in nothing_found(trace)
    told = nothing_found(dataclasses.replace(trace, unknown_characters=("😀", "🎉")))
    assert told.endswith("Not checked is what the model cannot read: “😀”, “🎉”.")


@pytest.mark.parametrize("strong", [True, False])
def test_only_a_strong_finding_speaks_of_a_mistake(strong: bool) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    told = finding_sentence(trace, Finding(Kind.OVERUSED, 3.4, source=1, strong=strong))
    assert told.startswith("“two” was looked at 3.4 times in all")
    assert ("wrong" in told) == strong


def test_a_stretch_is_quoted_whole() -> None:
    trace = make_trace("one two three .", "un deux trois .")
    told = finding_sentence(trace, Finding(Kind.OMITTED, 0.05, source=0, last=2, strong=True))
    assert told == "“one two three” was passed over, with 0.05 looks a word: left out?"


def test_a_word_spelled_alike_is_not_called_copied() -> None:
    trace = make_trace("In Paris all sleep .", "À Paris tous dorment .")
    told = finding_sentence(trace, Finding(Kind.IDENTICAL, 0.83, target=1, source=1))
    assert told == "“Paris” is spelled as in the source, and looked at that word: α = 0.83."


def test_an_improbable_piece_is_named() -> None:
    trace = make_trace("small cat", "extraordinaire chat")  # "extr" + "aordinaire"
    chances = np.log(np.array([0.9, 0.02, 0.9, 0.9], dtype=np.float32))
    trace = dataclasses.replace(trace, log_probabilities=chances)
    (finding,) = [found for found in findings_of(trace) if found.kind is Kind.IMPROBABLE]
    told = finding_sentence(trace, finding)
    assert told == "The model found “extraordinaire” unlikely: probability 0.02 for its piece “·aordinaire”."


def test_a_rival_that_hardly_counts_has_less_than_one_per_cent() -> None:
    trace = make_trace("one two three .", "un deux trois .")
    top = np.full_like(trace.top_probabilities, 0.0004)
    chances = np.log(np.full(5, 0.95, dtype=np.float32))
    told = step_look(dataclasses.replace(trace, top_probabilities=top, log_probabilities=chances), 0)
    assert "with less than 1\u00a0%" in told
    assert " 0\u00a0%" not in told


def test_an_apostrophe_is_called_by_its_name() -> None:
    trace = make_trace("one two three .", "un deux trois .")
    pieces = (trace.target_pieces[0], "'", SPACE + ".", *trace.target_pieces[3:])
    trace = dataclasses.replace(trace, target_pieces=pieces)
    assert step_look(trace, 1).startswith("Step 2, an apostrophe.")
    assert step_look(trace, 2).startswith("Step 3, a full stop.")
