"""*Why attention?*: prefixes and left-out words, forced words, gradients by distance, and their sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.analysis.numbers import decimal, significant
from attnviz.analysis.why_attention import (
    FIRST,
    MOST_PREFIXES,
    ForcedWords,
    JudgedTranslation,
    distances,
    forced_word_probabilities,
    forgetting_sentences,
    gradient_quartiles,
    gradient_share,
    largest_shares,
    prefixes,
    shares_by_length_sentence,
)
from attnviz.analysis.word_classes import content_words
from attnviz.trace.parts import GradientNorms
from tests.conftest import SENTENCES

KINDS = ("none", "general", "additive")


def test_word_log_probability_is_the_sum_over_its_pieces(make_network, tokenizer) -> None:
    translators = [Translator(make_network(kind), tokenizer, name=f"small-{kind}") for kind in KINDS]
    traces = [one.translate(SENTENCES[2], target=SENTENCES[3]) for one in translators]
    found, words = forced_word_probabilities(traces), traces[0].words()
    assert (found.words, found.attentions) == (words.target, KINDS)
    assert found.models == ("small-none", "small-general", "small-additive")
    assert any(len(group) > 1 for group in words.target_groups)
    for trace, logs in zip(traces, found.log_probabilities, strict=True):
        pieces = trace.log_probabilities.astype(np.float64)
        np.testing.assert_allclose(logs, [pieces[list(group)].sum() for group in words.target_groups], rtol=1e-5)
    np.testing.assert_allclose(found.lag(0, 2), found.log_probabilities[2] - found.log_probabilities[0])


def forced_words_from(fixed: list[float], other: list[float]) -> ForcedWords:
    words = tuple(f"w{place}" for place in range(len(fixed)))
    return ForcedWords(words, ("a", "b"), ("none", "additive"), np.log([fixed, other]))


@pytest.mark.usefixtures("each_language")
def test_sentences_describe_forgetting_and_lengths(snapshot) -> None:
    faded = forgetting_sentences(forced_words_from([0.5, 0.5, 0.05, 0.004], [0.5, 0.5, 0.4, 0.4]), 1)
    assert significant(np.sqrt(8 * 100)) in faded[0]
    assert decimal(0.004, 3) in faded[2]
    many = forgetting_sentences(forced_words_from([0.01] * 4, [0.5] * 4), 1)[-1]
    assert "w3" not in many  # only three are named
    buckets = "1-10", ">50"
    without = shares_by_length_sentence(buckets, (20.0, 1.3), (20.0, 22.0))
    assert decimal(22.0, 1) not in without
    assert {
        "fading": faded,
        "low from the beginning": forgetting_sentences(forced_words_from([0.1, 0.1, 0.2, 0.2], [0.5] * 4), 1),
        "no loss": forgetting_sentences(forced_words_from([0.5] * 4, [0.4] * 4), 1),
        "many words": many,
        "attention falls less": shares_by_length_sentence(buckets, (20.0, 1.3), (29.9, 12.2)),
        "attention does not fall": without,
    } == snapshot


@given(st.integers(1, 400))
def test_prefixes_grow_evenly_and_are_few(count: int) -> None:
    counts = [len(prefix.split()) for prefix in prefixes("word " * count)]
    assert len(counts) <= MOST_PREFIXES
    assert counts[0] >= min(FIRST, count)
    assert len(set(np.diff(counts))) <= 1
    if count <= MOST_PREFIXES:
        assert counts == list(range(min(FIRST, count), count + 1))


def test_improbable_words_render_no_source_word() -> None:
    shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]])
    logs = np.log([0.5, 0.02, 0.009])
    np.testing.assert_allclose(largest_shares(shares, logs), [0.25, 0.75, 0.6])
    np.testing.assert_allclose(largest_shares(shares[:0], logs[:0]), [0, 0, 0])


def test_only_content_words_that_no_word_renders_are_left_out() -> None:
    source = ("the", " green", " house", " fell", ".")
    judged = JudgedTranslation(
        "a b c", ("a", " b", " c"), np.log([0.5, 0.09, 0.11]), source, np.array([0, 0.4, 1, 0.5, 0])
    )
    assert content_words([word.strip() for word in source]) == judged.content == (1, 2, 3)
    assert judged.omitted == (1,)
    assert judged.improbable == 1


def decaying_signals(steps: int, pieces: int, tenth: float) -> GradientNorms:
    """Return signals by s_0 that fall to a tenth within `tenth` steps, and constant signals by the contexts."""
    start = 10.0 ** -(distances(steps, pieces) / tenth)
    contexts = np.full((steps, pieces), 0.3)
    return GradientNorms(start + contexts, start, contexts)


@given(st.integers(1, 30), st.integers(1, 30), st.floats(2, 40))
def test_quartiles_are_those_of_the_signals(steps: int, pieces: int, tenth: float) -> None:
    found = gradient_quartiles(decaying_signals(steps, pieces, tenth))
    assert np.all(np.diff(found.distances) > 0)
    assert np.all(np.diff(found.start, axis=0) >= -1e-12)  # quartiles in their order
    np.testing.assert_allclose(found.contexts, 0.3)
    assert found.near[0] >= found.far[0]
    assert found.near[1] == found.far[1] == pytest.approx(0.3)


def test_medians_are_taken_over_pairs_at_equal_distance() -> None:
    rng = np.random.default_rng(2)
    start = rng.random((3, 4))
    found = gradient_quartiles(GradientNorms(start, start, start))
    apart = distances(3, 4)
    assert found.distances.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(found.start[1], [np.median(start[apart == far]) for far in range(6)])


def test_gradient_share_of_the_attended_piece() -> None:
    whole = np.array([[3.0, 1.0], [1.0, 1.0]])
    share, alike = gradient_share(GradientNorms(whole, whole, whole), np.array([0, 1]))
    assert (share, alike) == (pytest.approx((0.75 + 0.5) / 2), 0.5)
