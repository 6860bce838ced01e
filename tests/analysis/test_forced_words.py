"""Forced words: probabilities of one translation's words under several models, and their sentences."""

from __future__ import annotations

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.numbers import decimal, significant
from attnviz.analysis.prefixes import ForcedWords, forced_word_probabilities
from attnviz.analysis.why_attention import forgetting_sentences, shares_by_length_sentence
from attnviz.text import Tokenizer
from tests.conftest import SENTENCES, ModelFactory

KINDS = ("none", "general", "additive")


def forced_translation(make_network: ModelFactory, tokenizer: Tokenizer, kind: str, target: str = SENTENCES[3]):
    return Translator(make_network(kind), tokenizer, name=f"small-{kind}").translate(SENTENCES[2], target=target)


def test_word_log_probability_is_the_sum_over_its_pieces(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    traces = [forced_translation(make_network, tokenizer, kind) for kind in KINDS]
    found = forced_word_probabilities(traces)
    assert found.words == traces[0].words().target
    assert found.attentions == KINDS
    assert found.models == ("small-none", "small-general", "small-additive")
    assert any(len(group) > 1 for group in traces[0].words().target_groups)
    for trace, logs in zip(traces, found.log_probabilities, strict=True):
        np.testing.assert_allclose(logs.sum(), trace.log_probabilities.sum(dtype=np.float64), rtol=1e-6)
        for group, log in zip(trace.words().target_groups, logs, strict=True):
            likely = np.exp(trace.log_probabilities[list(group)].astype(float)).prod()
            np.testing.assert_allclose(np.exp(log), likely, rtol=1e-5)
    np.testing.assert_allclose(found.lag(0, 2), found.log_probabilities[2] - found.log_probabilities[0])


def test_translations_with_different_words_are_refused(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    one, other = (
        forced_translation(make_network, tokenizer, "general", target) for target in (SENTENCES[3], SENTENCES[5])
    )
    with pytest.raises(AttnvizError, match="cannot be compared"):
        forced_word_probabilities([one, other])
    with pytest.raises(ValueError, match="no translation"):
        forced_word_probabilities([])


def forced_words_from(fixed: list[float], other: list[float]) -> ForcedWords:
    words = tuple(f"w{place}" for place in range(len(fixed)))
    return ForcedWords(words, ("a", "b"), ("none", "additive"), np.log([fixed, other]))


@pytest.mark.usefixtures("each_language")
def test_forgetting_sentences_describe_the_probabilities(snapshot: SnapshotAssertion) -> None:
    faded = forgetting_sentences(forced_words_from([0.5, 0.5, 0.05, 0.004], [0.5, 0.5, 0.4, 0.4]), 1)
    assert significant(np.sqrt(8 * 100)) in faded[0]
    assert decimal(0.004, 3) in faded[2]
    assert faded == snapshot(name="fading")
    assert forgetting_sentences(forced_words_from([0.1, 0.1, 0.2, 0.2], [0.5] * 4), 1) == snapshot(
        name="low from the beginning"
    )
    assert forgetting_sentences(forced_words_from([0.5] * 4, [0.4] * 4), 1) == snapshot(name="no loss")
    many = forgetting_sentences(forced_words_from([0.01] * 4, [0.5] * 4), 1)
    assert "w3" not in many[-1]  # only three are named
    assert many[-1] == snapshot(name="many words")


@pytest.mark.usefixtures("each_language")
def test_bleu_of_short_and_long_sentences_is_compared(snapshot: SnapshotAssertion) -> None:
    buckets = "1-10", ">50"
    assert shares_by_length_sentence(buckets, (20.0, 1.3), (29.9, 12.2)) == snapshot(name="attention falls less")
    without = shares_by_length_sentence(buckets, (20.0, 1.3), (20.0, 22.0))
    assert without == snapshot(name="attention does not fall")
    assert decimal(22.0, 1) not in without


def test_forgetting_sentences_need_enough_words_and_a_fixed_context() -> None:
    assert len(forgetting_sentences(forced_words_from([0.5, 0.1], [0.5, 0.5]), 1)) == 1
    attending = ForcedWords(("a",), ("x", "y"), ("general", "additive"), np.zeros((2, 1)))
    assert forgetting_sentences(attending, 1) == []
