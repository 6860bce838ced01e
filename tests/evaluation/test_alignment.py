"""Alignment error rate, and the mapping of attention from pieces to the words of a gold file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.errors import AttnvizError
from attnviz.evaluation.alignment import GoldAlignment, best_threshold, detokenise, read_gold
from attnviz.evaluation.model_alignments import word_alignments
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.snapshots import plain


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_gold_links_counted_from_one_or_zero_are_detected(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    words = {"id": "1", "en": ["a", "b"], "fr": ["c", "d"]}
    zero = read_gold(write(tmp_path / "zero.jsonl", words | {"S": [[0, 0]], "P": [[1, 0], [0, 0]]}))
    one = read_gold(write(tmp_path / "one.jsonl", words | {"S": [[1, 1]], "P": [[2, 1]]}))
    assert zero == one
    assert zero[0].possible == {(1, 0)}
    with pytest.raises(AttnvizError) as error:
        read_gold(write(tmp_path / "either.jsonl", words | {"S": [[1, 1]], "P": []}))
    assert plain(error.value, tmp_path) == snapshot
    with pytest.raises(AttnvizError) as error:
        read_gold(write(tmp_path / "neither.jsonl", words | {"S": [[0, 0], [2, 2]], "P": []}))
    assert plain(error.value, tmp_path) == snapshot


def test_missing_and_damaged_gold_files_are_named(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError, match=r"missing\.jsonl"):
        read_gold(tmp_path / "missing.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(AttnvizError) as error:
        read_gold(tmp_path / "bad.jsonl")
    assert plain(error.value, tmp_path) == snapshot


def test_detokenise_attaches_punctuation() -> None:
    assert (
        detokenise(["the", "man", "'s", "dog", ",", "a", "(", "red", ")", "one", "."]) == "the man's dog, a (red) one."
    )
    assert detokenise(["L'", "accord", "qu'", "il", "signe"]) == "L'accord qu'il signe"
    assert detokenise(["procès", "-", "verbal"]) == "procès-verbal"


def test_gold_word_attention_keeps_all_weight_off_the_end(translator: Translator) -> None:
    words = ("A", "girl", "'s", "red", "bicycle", ",", "\u2603\u2603", "nobody", "'s", ".")
    sentence = GoldAlignment("x", words, ("Une", "fille", ",", "l'", "accord", "."), frozenset({(0, 0)}), frozenset())
    (matrix,) = word_alignments(translator, [sentence])
    assert matrix.shape == (6, 10)
    trace = translator.translate(detokenise(sentence.source), target=detokenise(sentence.target))
    assert matrix.sum(axis=1).max() <= 1 + 1e-6
    # Each row has all attention of its target word except the share on the source's </s>.
    expected = 1 - trace.alignment[:-1, -1]
    assert matrix.sum(axis=1).min() >= expected.min() - 1e-6
    assert np.all(matrix >= 0)


def test_best_threshold_of_small_example() -> None:
    """Above 0.2 the wrong link is gone, above 0.3 a right one too: 0.21 is the first of the best."""
    alignment = np.array([[0.7, 0.2], [0.1, 0.3]])
    sentence = GoldAlignment("x", ("a", "b"), ("c", "d"), frozenset({(0, 0), (1, 1)}), frozenset())
    assert best_threshold([alignment], [sentence]) == 0.21


def test_batched_word_alignments_equal_single_ones(translator: Translator) -> None:
    pairs = [
        GoldAlignment("x", tuple(source.split()), tuple(target.split()), frozenset({(0, 0)}), frozenset())
        for source, target in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)
    ]
    for together, pair in zip(word_alignments(translator, pairs), pairs, strict=True):
        np.testing.assert_allclose(together, word_alignments(translator, [pair])[0], atol=1e-6)
