"""Posterior attention: likelihood and posterior against a decoder that gets each annotation alone."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, analysis
from attnviz.analysis.alignment_error import error_rate
from attnviz.analysis.measures import links
from attnviz.analysis.posterior import POSTERIOR_KINDS, posterior_words
from attnviz.evaluation.alignment import GoldAlignment
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import ExcludePosition, ReplaceWeights, Temperature
from attnviz.translator import Translator
from tests.analysis.given import KINDS as KINDS_OF_MODEL
from tests.analysis.given import Weights, forced_trace, step_probabilities
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW


def log_likelihood_by_piece(trace: Trace, weights: Weights) -> np.ndarray:
    """Return log p(y_i), (Ty, Tx), of every step when the recomputation's decoder attends to each piece alone."""
    found = np.empty(trace.alignment.shape)
    for i, j in product(*map(range, found.shape)):
        alone = np.eye(found.shape[1])[j]
        found[i, j] = np.log(step_probabilities(trace, weights, i, alone)[trace.target_ids[i]])
    return found


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from(KINDS_OF_MODEL),
    hidden_size=st.integers(1, 16),
    maxout_size=st.integers(1, 12),
    alignment_size=st.integers(1, 12),
)
def test_posterior_follows_bayes_rule_over_single_annotations(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], **sizes: int
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    alone = np.exp(log_likelihood_by_piece(trace, weights))
    np.testing.assert_allclose(analysis.likelihood(trace, weights), alone, rtol=2e-5)
    joint = trace.alignment * alone
    found = analysis.posterior(trace, weights, kind="posterior")
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), atol=1e-5)


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from(KINDS_OF_MODEL),
    reading=st.sampled_from(POSTERIOR_KINDS),
    hidden_size=st.integers(1, 16),
    maxout_size=st.integers(1, 12),
)
def test_posterior_rows_are_distributions_for_every_kind(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, reading, **sizes: int
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.posterior(trace, weights, kind=reading)
    assert found.shape == trace.alignment.shape
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS_OF_MODEL)
def test_posterior_uses_the_alignment_after_interventions(
    make_network: ModelFactory, tokenizer: Tokenizer, kind
) -> None:
    length = len(tokenizer.encode(SENTENCES[2])) + 1
    only = tuple(float(j == 2) for j in range(length))
    changes = [ReplaceWeights(only, step=0), ExcludePosition(1, step=1), Temperature(3.0)]
    trace, weights = forced_trace(make_network, tokenizer, kind, changes)
    for reading in POSTERIOR_KINDS:
        found = analysis.posterior(trace, weights, kind=reading)
        np.testing.assert_allclose(found[0], only, atol=1e-12)
        assert found[1, 1] == 0
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_posterior_is_refused_without_attention(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("none", "previous"))
    for ask in (analysis.posterior, analysis.likelihood):
        with pytest.raises(AttnvizError, match="has no attention"):
            ask(trace, weights)


def test_posterior_refuses_unknown_kinds_and_other_weights(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    with pytest.raises(AttnvizError, match="guess"):
        analysis.posterior(trace, weights, kind="guess")  # type: ignore[arg-type]
    _, others = forced_trace(make_network, tokenizer, ("additive", "previous"), hidden_size=3)
    with pytest.raises(AttnvizError, match="does not fit"):
        analysis.posterior(trace, others)


def test_posterior_words_merge_the_posterior_of_pieces(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    before, after = trace.words(), posterior_words(trace, weights)
    assert (after.source, after.target) == (before.source, before.target)
    np.testing.assert_array_equal(before.merged(trace.alignment), before.alignment)
    pieces = analysis.posterior(trace, weights)
    column, row = before.source_groups[1], before.target_groups[2]
    assert after.alignment[2, 1] == pytest.approx(pieces[np.ix_(row, column)].sum(axis=1).mean(), rel=1e-6)
    np.testing.assert_allclose(after.alignment.sum(axis=1), 1, atol=1e-6)


OWN_LINKS = (
    (
        "The black cat sleeps on the red chair .",
        "Le chat noir dort sur la chaise rouge .",
        "0-0 1-2 2-1 3-3 4-4 5-5 6-7 7-6 8-8",
    ),
    (
        "I do not know where my friends are .",
        "Je ne sais pas où sont mes amis .",
        "0-0 2-1 2-3 3-2 4-4 5-6 6-7 7-5 8-8",
    ),
    ("A young girl is reading a long book .", "Une jeune fille lit un long livre .", "0-0 1-1 2-2 4-3 5-4 6-5 7-6 8-7"),
    (
        "The European parliament approved the report .",
        "Le parlement européen a approuvé le rapport .",
        "0-0 1-2 2-1 3-3 3-4 4-5 5-6 6-7",
    ),
    (
        "Two white dogs run in the deep snow .",
        "Deux chiens blancs courent dans la neige profonde .",
        "0-0 1-2 2-1 3-3 4-4 5-5 6-7 7-6 8-8",
    ),
)


def test_posterior_lowers_the_error_rate_of_the_shipped_model(shipped_model: Path) -> None:
    translator, weights = Translator.load(shipped_model, device="cpu"), analysis.load_weights(shipped_model)
    gold, before, after = [], [], []
    for source, target, drawn in OWN_LINKS:
        sure = frozenset((int(j), int(i)) for j, i in (link.split("-") for link in drawn.split()))
        gold.append(GoldAlignment("own", tuple(source.split()), tuple(target.split()), sure, frozenset()))
        trace = translator.translate(source, target=target)
        words = trace.words()
        assert len(words.target) == len(target.split()) + 1
        before.append(links(words.alignment[:-1, :-1]))
        posteriors = [analysis.posterior(trace, weights, kind) for kind in POSTERIOR_KINDS]
        after.append([links(words.merged(posterior)[:-1, :-1]) for posterior in posteriors])
    error = error_rate(before, gold).aer
    for found in zip(*after, strict=True):
        assert error_rate(found, gold).aer < 0.75 * error
