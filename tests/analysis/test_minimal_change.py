"""Minimal change of a step's attention weights that makes the recomputation write another piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from attnviz import AttnvizError, analysis
from attnviz.analysis.step_evaluation import StepEvaluation
from attnviz.text import EOS, Tokenizer
from tests.analysis.given import KINDS, SIZES, forced_trace, step_probabilities
from tests.conftest import ModelFactory
from tests.strategies import FEW


def most_likely_piece(probabilities: np.ndarray) -> int:
    return int(probabilities[EOS:].argmax()) + EOS


@settings(max_examples=FEW)
@given(**SIZES)
def test_minimal_change_makes_the_step_write_another_piece(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.minimal_change(trace, weights)
    assert found.distances.shape == (len(trace.target_ids),)
    for step, distance in enumerate(found.distances):
        evaluation = found.weights[step]
        real = trace.alignment[step].astype(np.float64)
        assert evaluation.min() >= 0
        assert evaluation.sum() == pytest.approx(1)
        assert most_likely_piece(step_probabilities(trace, weights, step, real)) == found.first_ids[step]
        again = most_likely_piece(step_probabilities(trace, weights, step, evaluation))
        assert again == found.second_ids[step]
        if np.isinf(distance):
            np.testing.assert_allclose(evaluation, real, atol=1e-6)
            assert again == found.first_ids[step]
        else:
            assert distance == pytest.approx(np.abs(evaluation - real / real.sum()).sum(), abs=1e-9)
            assert 0 < distance <= 2
            assert again != found.first_ids[step]


@pytest.mark.parametrize("kind", KINDS)
def test_random_search_finds_no_much_smaller_change(make_network: ModelFactory, tokenizer: Tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    found, chance = analysis.minimal_change(trace, weights), np.random.default_rng(0)
    for step, distance in enumerate(found.distances):
        evaluation = StepEvaluation(trace, step, weights)
        count = len(evaluation.alignment)
        ends = np.concatenate([np.eye(count), chance.dirichlet(np.full(count, 0.2), size=100)])
        shares = np.linspace(0, 1, 33)[1:, None, None]
        lines = (evaluation.alignment + shares * (ends - evaluation.alignment)).reshape(-1, count)
        pieces = evaluation.distributions(lines)[:, EOS:].argmax(axis=1) + EOS
        changed = np.abs(lines - evaluation.alignment).sum(axis=1)[pieces != found.first_ids[step]]
        assert distance <= min(changed, default=np.inf) * 1.05


def test_distance_is_infinite_when_no_weights_change_the_piece(
    make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, KINDS[0])
    # The bias makes one piece the likeliest under any weights.
    bias = np.zeros_like(weights["decoder.output.bias"])
    bias[7] = 1000
    found = analysis.minimal_change(trace, weights | {"decoder.output.bias": bias})
    assert np.all(np.isinf(found.distances))
    assert np.all(found.first_ids == 7)
    assert np.all(found.second_ids == 7)


def test_minimal_change_is_refused_without_attention(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    with pytest.raises(AttnvizError, match="has no attention"):
        analysis.minimal_change(*forced_trace(make_network, tokenizer, ("none", "previous")))
