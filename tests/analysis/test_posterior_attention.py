"""Posterior attention (prior × likelihood → posterior): Bayes' rule, and agreement of two implementations."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from attnviz import AttnvizError, analysis
from attnviz.analysis import recomputation as again
from attnviz.analysis.likelihood import Readouts
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import ReplaceWeights, Temperature
from tests.analysis.given import KINDS, SIZES, Weights, forced_trace, state_before, step_probabilities
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW


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
def test_columns_follow_bayes_rule_and_match_the_recomputation(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.posterior_attention(trace, weights)
    joint = found.prior * found.likelihood
    np.testing.assert_array_equal(found.prior, trace.alignment)
    np.testing.assert_allclose(found.posterior, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(found.heatmap_posterior, analysis.posterior(trace, weights))
    logarithms, posterior, by_recomputation = recomputed(trace, weights)
    np.testing.assert_allclose(np.log(found.likelihood), logarithms, atol=1e-5)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-5)
    np.testing.assert_allclose(found.heatmap_posterior, by_recomputation, atol=1e-5)


@settings(max_examples=FEW)
@given(**SIZES)
def test_one_hot_attention_has_its_annotation_as_context(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
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


@pytest.mark.parametrize("kind", KINDS)
def test_neutral_interventions_leave_the_posterior_unchanged(
    make_network: ModelFactory, tokenizer: Tokenizer, kind
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    first = analysis.posterior_attention(trace, weights)
    same = [ReplaceWeights(tuple(row), step=i) for i, row in enumerate(trace.alignment.tolist())]
    for changes, tolerance in (([], 0), ([Temperature(1.0)], 0), (same, 1e-6)):
        again_translated, _ = forced_trace(make_network, tokenizer, kind, changes)
        other = analysis.posterior_attention(again_translated, weights)
        for name in ("prior", "likelihood", "posterior", "heatmap_posterior"):
            np.testing.assert_allclose(getattr(other, name), getattr(first, name), atol=tolerance)


def test_likelihoods_of_step_ranges_match_those_of_all_steps(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    for kind in KINDS:
        trace, weights = forced_trace(make_network, tokenizer, kind)
        readouts = Readouts(trace, weights)
        for steps in (slice(1, 2), slice(2, 5), slice(0, 99)):
            np.testing.assert_allclose(readouts.log_likelihood(steps=steps), readouts.alone[steps], atol=1e-6)


def test_posterior_attention_is_refused_without_attention(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("none", "previous"))
    with pytest.raises(AttnvizError, match="has no attention"):
        analysis.posterior_attention(trace, weights)


def test_recomputation_imports_nothing_from_the_first_implementation() -> None:
    tree = ast.parse(Path(again.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & {
        "attnviz.analysis.likelihood",
        "attnviz.analysis.posterior",
    }
