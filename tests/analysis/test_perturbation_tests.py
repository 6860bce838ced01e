"""Other weights of a step: perturbation tests, best attention and minimal change, against the recomputation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import ReplaceWeights, analysis
from attnviz.analysis.measures import total_variation
from attnviz.analysis.perturbation_tests import permuted, without_strongest
from attnviz.analysis.step_evaluation import StepEvaluation, jensen_shannon, simplex_projection
from attnviz.text import EOS
from tests.analysis.given import KINDS, SIZES, forced_trace, step_probabilities
from tests.conftest import SENTENCES
from tests.strategies import FEW

SINGLE = 1e-4
"""The recomputation reads a context in double precision, a trace has its annotations in single."""


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), **SIZES)
def test_perturbed_steps_match_the_recomputation(make_network, tokenizer, kind, step: int, **sizes: int) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    results = analysis.perturbation_tests(trace, step, weights, permutations=5)
    real = step_probabilities(trace, weights, step, trace.alignment[step])
    tests = {name: getattr(results, name) for name in ("real", "uniform", "without_strongest", "adversary")}
    for name, perturbed in (tests | {"permuted": results.permuted[3]}).items():
        assert perturbed.weights.sum() == pytest.approx(1, abs=1e-12)
        assert perturbed.weights.min() >= 0
        expected = step_probabilities(trace, weights, step, perturbed.weights)
        np.testing.assert_allclose(perturbed.probabilities, expected, atol=1e-5, err_msg=name)
        assert perturbed.total_variation == pytest.approx(total_variation(expected, real), abs=SINGLE)
        assert perturbed.likelihood == pytest.approx(expected[trace.target_ids[step]], abs=1e-5)
        assert perturbed.probabilities[perturbed.piece_id] == perturbed.probabilities[EOS:].max()
    assert (results.real.total_variation, results.real.divergence) == pytest.approx((0, 0), abs=1e-12)
    assert results.adversary.total_variation <= 0.01, "the bound holds"


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), seed=st.integers(0, 99), **SIZES)
def test_slopes_match_finite_differences(make_network, tokenizer, kind, step: int, seed: int, **sizes: int) -> None:
    """Of the log-likelihood of a piece, and of the total variation."""
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    evaluation, chance = StepEvaluation(trace, step, weights), np.random.default_rng(seed)
    points = chance.dirichlet(np.ones(len(evaluation.alignment)), size=2)
    piece = int(chance.integers(len(evaluation.probabilities)))
    heights, slopes = evaluation.log_likelihood_and_slopes(points, piece)
    np.testing.assert_allclose(np.exp(heights), evaluation.distributions(points)[:, piece])
    change, slopes_of_change = evaluation.change_and_slopes(points)
    np.testing.assert_allclose(change, evaluation.change(points), rtol=1e-6)
    ways, near = chance.normal(size=points.shape), 1e-7
    ends = [points + sign * near * ways for sign in (1, -1)]
    logs = [evaluation.log_likelihood_and_slopes(end, piece)[0] for end in ends]
    variations = [total_variation(evaluation.distributions(end), evaluation.probabilities) for end in ends]
    # The maxout and |x| have kinks; no point drawn here is within 1e-6 of one.
    for found, (more, less) in ((slopes, logs), (slopes_of_change, variations)):
        expected = (more - less) / (2 * near)
        np.testing.assert_allclose((found * ways).sum(axis=1), expected, rtol=1e-3, atol=1e-5)


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), bound=st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.5, 1.0]), **SIZES)
def test_adversary_respects_its_bound_and_diverges_far(make_network, tokenizer, kind, step, bound, **sizes) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.adversary(trace, step, weights, bound=bound)
    assert found.total_variation <= bound
    evaluation = StepEvaluation(trace, step, weights)
    if bound == 1:
        best = jensen_shannon(np.eye(len(evaluation.alignment)), evaluation.alignment).max()
        assert found.divergence == pytest.approx(best, abs=1e-6)  # the farthest distribution is one-hot
    if bound:
        assert found.divergence > 0
        # Random distributions, moved towards the real one until the bound holds, are not much farther.
        drawn = np.random.default_rng(0).dirichlet(np.full(len(evaluation.alignment), 0.3), size=60)
        shares = np.linspace(0, 1, 41)[:, None, None]
        lines = (evaluation.alignment + shares * (drawn - evaluation.alignment)).reshape(-1, len(evaluation.alignment))
        inside = evaluation.perturbed(lines)
        farthest = max(perturbed.divergence for perturbed in inside if perturbed.total_variation <= bound)
        assert found.divergence >= 0.6 * farthest


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), **SIZES)
def test_best_attention_is_no_worse_than_any_single_piece(make_network, tokenizer, kind, step, **sizes: int) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    evaluation = StepEvaluation(trace, step, weights)
    for piece in (None, 9):
        wanted = evaluation.target_id if piece is None else piece
        found = analysis.best_attention(trace, step, weights, piece_id=piece)
        alone = evaluation.distributions(np.eye(len(evaluation.alignment)))[:, wanted]
        rest = evaluation.distributions(np.random.default_rng(1).dirichlet(np.ones(len(evaluation.alignment)), 50))[
            :, wanted
        ]
        reached = found.probabilities[wanted]
        assert reached >= max(alone.max(), evaluation.probabilities[wanted]) * (1 - 1e-9)
        assert reached >= 0.95 * rest.max()
        assert reached == pytest.approx(step_probabilities(trace, weights, step, found.weights)[wanted], abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_uses_the_permutations_of_perturbation_tests(make_network, tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    everywhere = analysis.shuffled(trace, weights, permutations=7, seed=4)
    for step in (0, 5):
        results = analysis.perturbation_tests(trace, step, weights, permutations=7, seed=4)
        assert everywhere.change[step] == pytest.approx(results.change_when_permuted, abs=1e-5)
        assert everywhere.kept[step] == results.kept_when_permuted
        assert everywhere.largest[step] == trace.alignment[step].max()
        for perturbed in results.permuted:
            np.testing.assert_array_equal(np.sort(perturbed.weights), np.sort(results.real.weights))
    row = np.array([0.5, 0.3, 0.2])
    assert np.array_equal(permuted(row, 9, 0, 1), permuted(row, 9, 0, 1))
    assert not np.array_equal(permuted(row, 9, 0, 1), permuted(row, 9, 0, 2))


def test_perturbed_weights_and_divergences_of_examples() -> None:
    np.testing.assert_allclose(without_strongest(np.array([0.1, 0.6, 0.3])), [0.25, 0, 0.75])
    np.testing.assert_allclose(without_strongest(np.array([0.0, 1.0, 0.0])), [0.5, 0, 0.5])
    one, other = np.array([0.5, 0.5, 0]), np.array([0, 0.5, 0.5])
    assert total_variation(one, other) == 0.5
    assert jensen_shannon(one, other) == pytest.approx(0.5)
    assert jensen_shannon(np.eye(3)[0], np.eye(3)[1]) == 1
    assert jensen_shannon(one, one) == 0


@given(points=st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=1, max_size=4).map(np.array))
def test_simplex_projection_is_the_nearest_distribution(points: np.ndarray) -> None:
    nearest = simplex_projection(points)
    assert nearest.min() >= 0
    np.testing.assert_allclose(nearest.sum(axis=1), 1)
    for other in np.random.default_rng(0).dirichlet(np.ones(3), size=40):
        distances = [np.linalg.norm(points - end, axis=1) for end in (nearest, other)]
        assert np.all(distances[0] <= distances[1] + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_one_hot_attention_can_be_tested(make_network, tokenizer, kind) -> None:
    only = ReplaceWeights(tuple(float(j == 2) for j in range(len(tokenizer.encode(SENTENCES[2])) + 1)))
    trace, weights = forced_trace(make_network, tokenizer, kind, [only])
    results = analysis.perturbation_tests(trace, 1, weights, permutations=4)
    assert (results.real.weights[2], results.without_strongest.weights[2]) == (1, 0)
    np.testing.assert_allclose(results.without_strongest.weights.sum(), 1)
    assert results.adversary.total_variation <= 0.01
    assert analysis.best_attention(trace, 1, weights).likelihood >= results.real.likelihood * (1 - 1e-9)
    assert np.all(analysis.minimal_change(trace, weights).distances > 0)
    assert np.all(analysis.attribution_methods(trace, weights).matrices["posterior"][:, 2] == 1)


@settings(max_examples=FEW)
@given(**SIZES)
def test_minimal_change_writes_another_piece(make_network, tokenizer, kind, **sizes: int) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.minimal_change(trace, weights)
    assert found.distances.shape == (len(trace.target_ids),)
    for step, distance in enumerate(found.distances):
        changed, real = found.weights[step], trace.alignment[step].astype(np.float64)
        assert changed.min() >= 0
        assert changed.sum() == pytest.approx(1)
        again = [step_probabilities(trace, weights, step, row)[EOS:].argmax() + EOS for row in (real, changed)]
        assert again == [found.first_ids[step], found.second_ids[step]]
        if np.isinf(distance):
            np.testing.assert_allclose(changed, real, atol=1e-6)
            assert again[0] == again[1]
        else:
            assert distance == pytest.approx(np.abs(changed - real / real.sum()).sum(), abs=1e-9)
            assert 0 < distance <= 2
            assert again[0] != again[1]


@pytest.mark.parametrize("kind", KINDS)
def test_no_random_change_is_much_smaller_than_the_minimal_one(make_network, tokenizer, kind) -> None:
    """In networks of one size: the search is local, and in smaller ones its change may be far from the smallest."""
    trace, weights = forced_trace(make_network, tokenizer, kind)
    found, chance = analysis.minimal_change(trace, weights), np.random.default_rng(0)
    for step, distance in enumerate(found.distances):
        evaluation, count = StepEvaluation(trace, step, weights), trace.alignment.shape[1]
        ends = np.concatenate([np.eye(count), chance.dirichlet(np.full(count, 0.2), size=30)])
        shares = np.linspace(0, 1, 33)[1:, None, None]
        lines = (evaluation.alignment + shares * (ends - evaluation.alignment)).reshape(-1, count)
        pieces = evaluation.distributions(lines)[:, EOS:].argmax(axis=1) + EOS
        moved = np.abs(lines - evaluation.alignment).sum(axis=1)[pieces != found.first_ids[step]]
        assert distance <= min(moved, default=np.inf) * 1.05


def test_distance_is_infinite_when_no_weights_change_the_piece(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, KINDS[0])
    bias = np.zeros_like(weights["decoder.output.bias"])
    bias[7] = 1000  # makes one piece the likeliest under any weights
    found = analysis.minimal_change(trace, weights | {"decoder.output.bias": bias})
    assert np.all(np.isinf(found.distances))
    assert np.all(found.first_ids == 7)
    assert np.all(found.second_ids == 7)
