"""How firm a choice is: a number is the size of a change that does write another piece, seen by the recomputation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from attnviz import AttnvizError, analysis
from attnviz.analysis.step_evaluation import StepEvaluation
from attnviz.text import EOS, Tokenizer
from tests.analysis.given import KINDS, SIZES, run_again, translated
from tests.conftest import ModelFactory
from tests.strategies import FEW


def written(probabilities: np.ndarray) -> int:
    return int(probabilities[EOS:].argmax()) + EOS


@settings(max_examples=FEW)
@given(**SIZES)
def test_the_change_that_is_named_does_write_another_piece(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
    trace, weights = translated(make_network, tokenizer, kind, **sizes)
    found = analysis.minimal_change(trace, weights)
    assert found.distances.shape == (len(trace.target_ids),)
    for step, distance in enumerate(found.distances):
        evaluation = found.weights[step]
        real = trace.alignment[step].astype(np.float64)
        assert evaluation.min() >= 0
        assert evaluation.sum() == pytest.approx(1)
        assert written(run_again(trace, weights, step, real)) == found.first_ids[step]
        again = written(run_again(trace, weights, step, evaluation))
        assert again == found.second_ids[step]
        if np.isinf(distance):
            np.testing.assert_allclose(evaluation, real, atol=1e-6)
            assert again == found.first_ids[step]
        else:
            assert distance == pytest.approx(np.abs(evaluation - real / real.sum()).sum(), abs=1e-9)
            assert 0 < distance <= 2
            assert again != found.first_ids[step]


@pytest.mark.parametrize("kind", KINDS)
def test_chance_finds_no_change_much_smaller(make_network: ModelFactory, tokenizer: Tokenizer, kind) -> None:
    trace, weights = translated(make_network, tokenizer, kind)
    found, chance = analysis.minimal_change(trace, weights), np.random.default_rng(0)
    for step, distance in enumerate(found.distances):
        evaluation = StepEvaluation(trace, weights, step)
        count = len(evaluation.alignment)
        ends = np.concatenate([np.eye(count), chance.dirichlet(np.full(count, 0.2), size=100)])
        shares = np.linspace(0, 1, 33)[1:, None, None]
        lines = (evaluation.alignment + shares * (ends - evaluation.alignment)).reshape(-1, count)
        pieces = evaluation.distributions(lines)[:, EOS:].argmax(axis=1) + EOS
        changed = np.abs(lines - evaluation.alignment).sum(axis=1)[pieces != found.first_ids[step]]
        assert distance <= min(changed, default=np.inf) * 1.05


def test_a_choice_that_nothing_can_change_is_infinitely_firm(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = translated(make_network, tokenizer, KINDS[0])
    # One piece leads whatever is looked at.
    bias = np.zeros_like(weights["decoder.output.bias"])
    bias[7] = 1000
    found = analysis.minimal_change(trace, weights | {"decoder.output.bias": bias})
    assert np.all(np.isinf(found.distances))
    assert np.all(found.first_ids == 7)
    assert np.all(found.second_ids == 7)


def test_without_attention_nothing_can_move(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    with pytest.raises(AttnvizError, match="has no attention"):
        analysis.minimal_change(*translated(make_network, tokenizer, ("none", "previous")))
