"""Each finding on an alignment made to show it, and none on a plain one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from attnviz.analysis.reading import Kind, read
from attnviz.text import SPACE
from attnviz.trace import Trace
from tests.figures.synthetic import trace as make_trace


def aligned(source: str, target: str, matrix: np.ndarray, probability: float = 0.9) -> Trace:
    """Return a trace of one-piece words, with `</s>` at both ends aligned to itself."""
    rows, columns = len(target.split()) + 1, len(source.split()) + 1
    alpha = np.full((rows, columns), 1e-6)
    alpha[: rows - 1, : columns - 1] = np.maximum(matrix, 1e-6)
    alpha[rows - 1, columns - 1] = 1
    alpha = (alpha / alpha.sum(axis=1, keepdims=True)).astype(np.float32)
    words = [(*(SPACE + word for word in text.split()), "</s>") for text in (source, target)]
    return dataclasses.replace(
        make_trace(), source_pieces=words[0], source_surfaces=words[0], target_pieces=words[1], alignment=alpha,
        energies=np.log(alpha), log_probabilities=np.full(rows, np.log(probability), dtype=np.float32),
    )  # fmt: skip


def kinds(trace: Trace) -> set[Kind]:
    return {finding.kind for finding in read(trace)}


SOURCE, TARGET = "the small cat drinks cold milk", "le petit chat boit du lait"


def test_a_plain_diagonal_calls_for_no_remark() -> None:
    assert read(aligned(SOURCE, TARGET, np.eye(6))) == []


def test_a_word_nobody_looked_at() -> None:
    matrix = np.eye(6)
    matrix[1] = np.eye(6)[2]
    (finding,) = read(aligned(SOURCE, TARGET, matrix))
    assert (finding.kind, finding.source) == (Kind.OMITTED, 1)
    assert finding.value < 0.01


def test_punctuation_is_never_missed() -> None:
    matrix = np.eye(6)
    matrix[1] = np.eye(6)[2]
    assert read(aligned("the , cat drinks cold milk", TARGET, matrix)) == []


def test_a_word_looked_at_too_often() -> None:
    matrix = np.vstack([np.eye(6), np.eye(6)[[0, 0, 0]]])
    findings = read(aligned(SOURCE, TARGET + " vite et bien", matrix))
    assert [(f.kind, f.value, f.source) for f in findings] == [(Kind.OVERUSED, pytest.approx(4, abs=0.01), 0)]


def test_a_uniform_row() -> None:
    matrix = np.eye(6)
    matrix[3] = np.ones(6) / 6
    (finding,) = read(aligned(SOURCE, TARGET, matrix))
    assert (finding.kind, finding.target) == (Kind.UNIFORM, 3)


def test_a_collapsed_column_is_said_once() -> None:
    matrix = np.tile(np.eye(6)[4], (6, 1))
    (finding,) = read(aligned(SOURCE, TARGET, matrix))
    assert (finding.kind, finding.source) == (Kind.COLLAPSED, 4)
    assert finding.value == pytest.approx(6 / 7, abs=0.01)


def test_copied_words_and_their_shift() -> None:
    source, target = "in Paris and Rome all sleep", "à Paris et Rome tous dorment"
    found = read(aligned(source, target, np.eye(6)))
    assert [(f.kind, f.target, f.source) for f in found] == [(Kind.COPIED, 1, 1), (Kind.COPIED, 3, 3)]
    shifted = read(aligned(source, target, np.roll(np.eye(6), 1, axis=1)))
    assert [(f.kind, f.value) for f in shifted] == [(Kind.SHIFTED, 1.0)]


def test_an_improbable_word_is_that_of_its_weakest_piece() -> None:
    trace = aligned(SOURCE, TARGET, np.eye(6))
    chances = trace.log_probabilities.copy()
    chances[2] = np.log(0.03)
    (finding,) = read(dataclasses.replace(trace, log_probabilities=chances))
    assert (finding.kind, finding.target, finding.value) == (Kind.IMPROBABLE, 2, pytest.approx(0.03))


def test_without_attention_there_is_nothing_to_say_of_it() -> None:
    assert kinds(make_trace(attention="none")) <= {Kind.IMPROBABLE, Kind.COPIED}
