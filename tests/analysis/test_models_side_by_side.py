"""Sentence that compares the transformer with the recurrent model: it follows from the BLEU scores."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.models_side_by_side import bleu_gap_sentence
from attnviz.analysis.numbers import decimal


@pytest.mark.usefixtures("each_language")
def test_bleu_gap_sentence_follows_from_the_scores(snapshot: SnapshotAssertion) -> None:
    sizes = 4_854_848, 4_819_520
    additive = {"1-10": 30.0, "11-20": 22.0, "21-30": 15.0}
    sentence = bleu_gap_sentence(additive, {"1-10": 31.0, "11-20": 20.5, "21-30": 12.0}, sizes)
    assert decimal(3.0, 1) in sentence
    assert sentence == snapshot(name="behind at 2 of 3 lengths")
    assert bleu_gap_sentence(additive, dict(additive), sizes) == snapshot(name="as good everywhere")
    assert bleu_gap_sentence(additive, {"31-40": 9.0}, sizes) == ""
