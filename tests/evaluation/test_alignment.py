"""Alignment error rate, and the mapping of attention from pieces to the words of a gold file."""

import json
from functools import partial
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attnviz.evaluation.alignment import (
    GoldAlignment,
    best_threshold,
    between_tokens,
    between_words,
    read_gold,
)
from attnviz.text import SPACE
from attnviz.trace import Words
from attnviz.trace.tokens import detokenise
from tests.letters import CUTS, shares
from tests.snapshots import refusal


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_gold_links_counted_from_one_or_zero_are_detected(tmp_path, snapshot) -> None:
    words = {"id": "1", "en": ["a", "b"], "fr": ["c", "d"]}
    zero = read_gold(write(tmp_path / "zero.jsonl", words | {"S": [[0, 0]], "P": [[1, 0], [0, 0]]}))
    one = read_gold(write(tmp_path / "one.jsonl", words | {"S": [[1, 1]], "P": [[2, 1]]}))
    assert zero == one
    assert zero[0].possible == {(1, 0)}
    words_outside = (("neither", [[0, 0], [2, 2]]), ("source", [[1, 1], [3, 1]]), ("target", [[1, 1], [1, 3]]))
    for name, sure in (("either", [[1, 1]]), *words_outside):
        path = write(tmp_path / f"{name}.jsonl", words | {"S": sure, "P": []})
        assert refusal(partial(read_gold, path), tmp_path) == snapshot(name=name)


def test_detokenise_attaches_punctuation() -> None:
    assert (
        detokenise(["the", "man", "'s", "dog", ",", "a", "(", "red", ")", "one", "."]) == "the man's dog, a (red) one."
    )
    assert detokenise(["L'", "accord", "qu'", "il", "signe"]) == "L'accord qu'il signe"
    assert detokenise(["procès", "-", "verbal"]) == "procès-verbal"


INVISIBLE = "\u200b"


@given(st.lists(CUTS, min_size=4, max_size=4), st.integers(0, 99))
def test_attention_between_other_words_is_that_of_their_letters(sides, seed) -> None:
    source, target, *tokens = sides
    tokens[1] = [*tokens[1], INVISIBLE]
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(source) + 1), size=len(target) + 1)
    columns, rows = (
        shares([len(name.strip(INVISIBLE)) for name in new], [*map(len, old)])
        for old, new in zip((source, target), tokens, strict=True)
    )
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-9)
    rows, columns = (np.block([[one, np.zeros((len(one), 1))], [np.zeros(one.shape[1]), 1]]) for one in (rows, columns))
    expected = rows @ weights @ columns.T
    words = Words((*source, "</s>"), (*target, "</s>"), weights.astype(np.float32), (), ())
    found = between_tokens(words, *tokens)
    np.testing.assert_allclose(found.alignment, expected, atol=1e-6)
    assert (found.source, found.target) == ((*tokens[0], "</s>"), (*tokens[1], "</s>"))
    # Gold words are such tokens, also those that are a part of a piece.
    gold = GoldAlignment("x", tuple(tokens[0]), tuple(tokens[1]), frozenset(), frozenset())
    merged = between_words(gold, source, [SPACE + piece for piece in target], weights)
    np.testing.assert_allclose(merged, expected[:-1, :-1], atol=1e-12)
    # A piece that is only a space belongs to the word behind it.
    merged[:, :1] += rows[:-1, :-1] @ weights[:-1, -1:]
    weights = np.hstack([weights[:, -1:], weights])
    np.testing.assert_allclose(between_words(gold, [SPACE, *source], target, weights), merged, atol=1e-12)


def test_best_threshold_of_small_example() -> None:
    """Above 0.2 the wrong link is gone, above 0.3 a right one too: 0.21 is the first of the best."""
    alignment = np.array([[0.7, 0.2], [0.1, 0.3]])
    sentence = GoldAlignment("x", ("a", "b"), ("c", "d"), frozenset({(0, 0), (1, 1)}), frozenset())
    assert best_threshold([alignment], [sentence]) == 0.21
