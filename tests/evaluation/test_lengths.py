"""Scores by source length, compared with hand-made buckets."""

from __future__ import annotations

import math

import pytest

from attnviz.evaluation.bleu import BUCKETS, bucket, corpus_scores, scores_by_length
from attnviz.evaluation.forced import Likelihood


@pytest.mark.parametrize(
    ("words", "label"),
    [(1, "1-10"), (10, "1-10"), (11, "11-20"), (20, "11-20"), (21, "21-30"), (50, "41-50"), (51, ">50"), (199, ">50")],
)
def test_bucket_bounds(words: int, label: str) -> None:
    assert BUCKETS[bucket(" word" * words)] == label


def test_each_bucket_is_scored_by_itself() -> None:
    """Of 12 short sentences each model has all right; of 2 long ones, the second model misses a word in each."""
    sources = ["a b c d e"] * 12 + ["x " * 24, "x " * 26]
    references = [f"voici la phrase courte numéro {k}" for k in range(12)] + ["un deux trois quatre cinq six"] * 2
    worse = [*references[:12], *["un deux trois quatre cinq sept"] * 2]
    likely = Likelihood(1.0, 5, 20)
    short_first, short_second, long_first, long_second = scores_by_length(
        sources,
        references,
        {"first": references, "second": worse},
        {"first": [likely] * 14, "second": [likely] * 12 + [Likelihood(9.0, 5, 20)] * 2},
    )
    assert [short_first["words"], long_second["words"]] == ["1-10", "21-30"]
    assert [short_first["pairs"], long_second["pairs"]] == [12, 2]
    assert [short_first["mean_words"], long_first["mean_words"]] == [5, 25]
    assert short_second["bleu"] == long_first["bleu"] == pytest.approx(100)
    expected = corpus_scores(worse[12:], references[12:])[0].value
    assert expected == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)
    assert long_second["bleu"] == pytest.approx(expected)
    assert (short_first["difference"], short_second["difference"]) == (None, 0)
    assert long_second["difference"] == pytest.approx(expected - 100)
    for score in (short_first, short_second, long_first):
        assert score["bits_per_character"] == pytest.approx(1 / math.log(2) / 20)
    assert long_second["bits_per_character"] == pytest.approx(9 / math.log(2) / 20)
    assert short_second["difference_low"] == short_second["difference_high"] == 0
    assert long_second["bleu_low"] is None, "two sentences are too few for an interval"
