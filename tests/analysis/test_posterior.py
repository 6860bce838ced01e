"""Posterior attention: Bayes' rule over single annotations, and agreement of two implementations."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from attnviz import AttnvizError, analysis
from attnviz.analysis import recomputation as again
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.posterior import erasure_log_drops, posterior_words
from attnviz.trace import Trace
from attnviz.trace.interventions import ReplaceWeights
from tests.analysis.given import SIZES, Weights, forced_trace, state_before, step_probabilities
from tests.conftest import SENTENCES
from tests.strategies import FEW


def test_posterior_refuses_unknown_kinds_and_other_weights(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    with pytest.raises(AttnvizError, match=r"“kind” must be .*guess"):
        analysis.posterior(trace, weights, kind="guess")  # type: ignore[arg-type]
    _, others = forced_trace(make_network, tokenizer, ("additive", "previous"), hidden_size=3)
    with pytest.raises(AttnvizError, match="does not fit"):
        analysis.posterior(trace, others)


def test_posterior_words_merge_the_posterior_of_pieces(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    before, after = trace.words(), posterior_words(trace, weights)
    assert (after.source, after.target) == (before.source, before.target)
    np.testing.assert_array_equal(before.merged(trace.alignment), before.alignment)
    pieces = analysis.posterior(trace, weights)
    column, row = before.source_groups[1], before.target_groups[2]
    assert after.alignment[2, 1] == pytest.approx(pieces[np.ix_(row, column)].sum(axis=1).mean(), rel=1e-6)
    np.testing.assert_allclose(after.alignment.sum(axis=1), 1, atol=1e-6)


def recomputed(trace: Trace, weights: Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log likelihood, posterior and the heatmap's posterior, (Ty, Tx) each, by the recomputation."""
    network, annotations = again.RecurrentEquations(weights, trace.config), trace.annotations.astype(np.float64)
    states = [state_before(trace, step) for step in range(len(trace.target_ids))]
    words, prior = [network.word(piece) for piece in trace.previous_ids], trace.alignment.astype(np.float64)
    logarithms = np.stack(
        [
            network.log_likelihood(annotations, *operands)
            for operands in zip(states, words, trace.target_ids, strict=True)
        ]
    )
    posterior = np.stack([again.recomputed_bayes(*rows) for rows in zip(prior, logarithms, strict=True)])
    by_recomputation = network.heatmap_posterior(annotations, states, words, trace.target_ids, prior)
    return logarithms, posterior, by_recomputation


@settings(max_examples=FEW)
@given(**SIZES)
def test_columns_follow_bayes_rule_and_match_the_recomputation(make_network, tokenizer, kind, **sizes: int) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.posterior_attention(trace, weights)
    joint = found.prior * found.likelihood
    np.testing.assert_array_equal(found.prior, trace.alignment)
    np.testing.assert_allclose(found.posterior, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(found.heatmap_posterior, analysis.posterior(trace, weights))
    np.testing.assert_array_equal(found.posterior, analysis.posterior(trace, weights, "posterior"))
    logarithms, posterior, by_recomputation = recomputed(trace, weights)
    np.testing.assert_allclose(np.log(found.likelihood), logarithms, atol=1e-5)
    for steps in (slice(1, 2), slice(2, 5), slice(0, 99)):
        of_range = Readouts(trace, weights).log_likelihood(steps=steps)
        np.testing.assert_allclose(of_range, logarithms[steps], atol=1e-5)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-5)
    np.testing.assert_allclose(found.heatmap_posterior, by_recomputation, atol=1e-5)
    variation = np.maximum(found.posterior - found.prior, 0).sum(axis=1)
    np.testing.assert_allclose(
        [found.change(step) for step in range(-1, len(variation) - 1)], np.roll(variation, 1), atol=1e-6
    )


@settings(max_examples=FEW)
@given(**SIZES)
def test_one_hot_attention_has_its_annotation_as_context(make_network, tokenizer, kind, **sizes: int) -> None:
    length = len(tokenizer.encode(SENTENCES[2])) + 1
    alone = [ReplaceWeights(tuple(float(k == j) for k in range(length)), step=j) for j in range(3)]
    trace, weights = forced_trace(make_network, tokenizer, kind, alone, **sizes)
    found = analysis.posterior_attention(trace, weights)
    for j in range(3):
        np.testing.assert_allclose(trace.contexts[j], trace.annotations[j], atol=1e-6)
        # The likelihood equals the probability of the step, which attended to nothing else.
        assert found.likelihood[j, j] == pytest.approx(float(trace.probabilities[j]), rel=1e-4)
        assert found.likelihood[j, j] == pytest.approx(
            step_probabilities(trace, weights, j, np.eye(length)[j])[trace.target_ids[j]], rel=1e-4
        )
        np.testing.assert_array_equal(found.posterior[j], np.eye(length)[j])
        assert found.change(j) == 0
        # Without it, no weight is left, and the context is 0.
        readouts = Readouts(trace, weights)
        without = readouts.log_probabilities(j, np.zeros((1, length)))[0, trace.target_ids[j]]
        drop = np.log(found.likelihood[j, j]) - without
        assert erasure_log_drops(readouts)[j, j] == pytest.approx(drop, abs=1e-4)


def test_recomputation_imports_nothing_from_the_first_implementation() -> None:
    tree = ast.parse(Path(again.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & {"attnviz.analysis.likelihood", "attnviz.analysis.posterior"}
