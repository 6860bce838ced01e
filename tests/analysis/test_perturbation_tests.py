"""One step with other weights: against the recomputation and the network itself, given these weights by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, Translator, analysis
from attnviz.analysis.distributions import climb, jensen_shannon, onto_simplex, total_variation
from attnviz.analysis.perturbation_tests import permuted, without_strongest
from attnviz.analysis.step_evaluation import StepEvaluation
from attnviz.text import EOS, Tokenizer
from attnviz.trace.interventions import ReplaceWeights
from tests.analysis.given import KINDS, SIZES, run_again, translated
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW

SINGLE = 1e-4
"""The recomputation reads a context in double precision, a trace has its annotations in single."""


def looks_of(perturbation_tests: analysis.PerturbationTests) -> dict[str, analysis.PerturbedStep]:
    return {
        "real": perturbation_tests.real,
        "uniform": perturbation_tests.uniform,
        "without strongest": perturbation_tests.without_strongest,
        "adversary": perturbation_tests.adversary,
        "permuted": perturbation_tests.permuted[3],
    }


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), **SIZES)
def test_every_trial_is_what_a_step_makes_of_these_weights(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, step: int, **sizes: int
) -> None:
    trace, weights = translated(make_network, tokenizer, kind, **sizes)
    tried = analysis.perturbation_tests(trace, weights, step, permutations=5)
    real = run_again(trace, weights, step, trace.alignment[step])
    for name, perturbed in looks_of(tried).items():
        assert perturbed.weights.sum() == pytest.approx(1, abs=1e-12)
        assert perturbed.weights.min() >= 0
        expected = run_again(trace, weights, step, perturbed.weights)
        np.testing.assert_allclose(perturbed.probabilities, expected, atol=1e-5, err_msg=name)
        assert perturbed.total_variation == pytest.approx(total_variation(expected, real), abs=SINGLE)
        assert perturbed.likelihood == pytest.approx(expected[trace.target_ids[step]], abs=1e-5)
        assert perturbed.probabilities[perturbed.piece_id] == perturbed.probabilities[EOS:].max()
    assert (tried.real.total_variation, tried.real.divergence) == pytest.approx((0, 0), abs=1e-12)
    assert tried.adversary.total_variation <= 0.01, "the bound holds"


@pytest.mark.parametrize("kind", KINDS)
def test_the_network_led_by_hand_says_the_same(make_network: ModelFactory, tokenizer: Tokenizer, kind) -> None:
    trace, weights = translated(make_network, tokenizer, kind)
    translator = Translator(make_network(*kind), tokenizer)
    for step in (0, 3):
        tried = analysis.perturbation_tests(trace, weights, step, permutations=4)
        for name, perturbed in looks_of(tried).items():
            by_hand = ReplaceWeights(tuple(perturbed.weights.tolist()), step=step)
            again = translator.translate(SENTENCES[2], target=SENTENCES[3], interventions=[by_hand])
            assert np.exp(again.log_probabilities[step]) == pytest.approx(perturbed.likelihood, abs=1e-5), name
            top = dict(perturbed.top(10))
            for piece, p in list(zip(again.top_ids[step].tolist(), again.top_probabilities[step], strict=True))[:9]:
                assert top[piece] == pytest.approx(p, abs=1e-5)


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), seed=st.integers(0, 99), **SIZES)
def test_slopes_are_those_of_finite_differences(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, step: int, seed: int, **sizes: int
) -> None:
    trace, weights = translated(make_network, tokenizer, kind, **sizes)
    evaluation, chance = StepEvaluation(trace, weights, step), np.random.default_rng(seed)
    points = chance.dirichlet(np.ones(len(evaluation.alignment)), size=2)
    piece = int(chance.integers(len(evaluation.probabilities)))
    heights, slopes = evaluation.log_likelihood_and_slopes(points, piece)
    np.testing.assert_allclose(np.exp(heights), evaluation.distributions(points)[:, piece])
    ways, near = chance.normal(size=points.shape), 1e-7
    ends = [evaluation.log_likelihood_and_slopes(points + sign * near * ways, piece)[0] for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * near)
    # Within a millionth of a tie of the maxout a difference has a corner in it; chance does not hit one here.
    np.testing.assert_allclose((slopes * ways).sum(axis=1), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_slope_of_the_change_is_that_of_total_variation(make_network: ModelFactory, tokenizer, kind) -> None:
    trace, weights = translated(make_network, tokenizer, kind)
    evaluation, chance = StepEvaluation(trace, weights, 2), np.random.default_rng(3)
    points = chance.dirichlet(np.ones(len(evaluation.alignment)), size=4)
    change, slopes = evaluation.change_and_slopes(points)
    np.testing.assert_allclose(change, evaluation.change(points), rtol=1e-6)
    ways, near = chance.normal(size=points.shape), 1e-7
    ends = [
        total_variation(evaluation.distributions(points + sign * near * ways), evaluation.probabilities)
        for sign in (1, -1)
    ]
    np.testing.assert_allclose((slopes * ways).sum(axis=1), (ends[0] - ends[1]) / (2 * near), rtol=1e-3, atol=1e-5)


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), bound=st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.5, 1.0]), **SIZES)
def test_the_adversary_keeps_its_bound_and_goes_far(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, step: int, bound: float, **sizes: int
) -> None:
    trace, weights = translated(make_network, tokenizer, kind, **sizes)
    found = analysis.adversary(trace, weights, step, bound)
    assert found.total_variation <= bound
    evaluation = StepEvaluation(trace, weights, step)
    if bound == 1:
        best = jensen_shannon(np.eye(len(evaluation.alignment)), evaluation.alignment).max()
        assert found.divergence == pytest.approx(best, abs=1e-6)  # the farthest evaluation is one piece alone
    if bound:
        assert found.divergence > 0
        # Chance, pulled back to the bound along a straight line, finds nothing much farther.
        drawn = np.random.default_rng(0).dirichlet(np.full(len(evaluation.alignment), 0.3), size=60)
        shares = np.linspace(0, 1, 41)[:, None, None]
        lines = (evaluation.alignment + shares * (drawn - evaluation.alignment)).reshape(-1, len(evaluation.alignment))
        inside = evaluation.perturbed(lines)
        farthest = max(perturbed.divergence for perturbed in inside if perturbed.total_variation <= bound)
        assert found.divergence >= 0.6 * farthest


@settings(max_examples=FEW)
@given(step=st.integers(0, 6), **SIZES)
def test_the_best_look_is_no_worse_than_any_piece_alone(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, step: int, **sizes: int
) -> None:
    trace, weights = translated(make_network, tokenizer, kind, **sizes)
    evaluation = StepEvaluation(trace, weights, step)
    for piece in (None, 9):
        wanted = evaluation.chosen if piece is None else piece
        found = analysis.best_attention(trace, weights, step, piece)
        alone = evaluation.distributions(np.eye(len(evaluation.alignment)))[:, wanted]
        rest = evaluation.distributions(np.random.default_rng(1).dirichlet(np.ones(len(evaluation.alignment)), 50))[
            :, wanted
        ]
        reached = found.probabilities[wanted]
        assert reached >= max(alone.max(), evaluation.probabilities[wanted]) * (1 - 1e-9)
        assert reached >= 0.95 * rest.max()
        assert reached == pytest.approx(run_again(trace, weights, step, found.weights)[wanted], abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_permutations_are_drawn_once_for_all(make_network: ModelFactory, tokenizer: Tokenizer, kind) -> None:
    trace, weights = translated(make_network, tokenizer, kind)
    everywhere = analysis.shuffled(trace, weights, permutations=7, seed=4)
    for step in (0, 5):
        tried = analysis.perturbation_tests(trace, weights, step, permutations=7, seed=4)
        assert everywhere.change[step] == pytest.approx(tried.change_when_permuted, abs=1e-5)
        assert everywhere.kept[step] == tried.kept_when_permuted
        assert everywhere.largest[step] == trace.alignment[step].max()
        for perturbed in tried.permuted:
            np.testing.assert_array_equal(np.sort(perturbed.weights), np.sort(tried.real.weights))
    row = np.array([0.5, 0.3, 0.2])
    assert np.array_equal(permuted(row, 9, 0, 1), permuted(row, 9, 0, 1))
    assert not np.array_equal(permuted(row, 9, 0, 1), permuted(row, 9, 0, 2))


def test_without_the_strongest_the_others_keep_their_ratios() -> None:
    np.testing.assert_allclose(without_strongest(np.array([0.1, 0.6, 0.3])), [0.25, 0, 0.75])
    np.testing.assert_allclose(without_strongest(np.array([0.0, 1.0, 0.0])), [0.5, 0, 0.5])


@given(points=st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=1, max_size=4).map(np.array))
def test_no_distribution_is_nearer_than_the_projection(points: np.ndarray) -> None:
    nearest = onto_simplex(points)
    assert nearest.min() >= 0
    np.testing.assert_allclose(nearest.sum(axis=1), 1)
    for other in np.random.default_rng(0).dirichlet(np.ones(3), size=40):
        distances = [np.linalg.norm(points - end, axis=1) for end in (nearest, other)]
        assert np.all(distances[0] <= distances[1] + 1e-9)


def test_distances_are_those_of_the_books() -> None:
    one, other = np.array([0.5, 0.5, 0]), np.array([0, 0.5, 0.5])
    assert total_variation(one, other) == 0.5
    assert jensen_shannon(one, other) == pytest.approx(0.5)
    assert jensen_shannon(np.eye(3)[0], np.eye(3)[1]) == 1
    assert jensen_shannon(one, one) == 0


def test_a_climb_finds_the_top_of_a_hill() -> None:
    top = np.array([0.2, 0.7, 0.1])

    def settle(points):
        return points, -((points - top) ** 2).sum(axis=1)

    found, heights = climb(np.eye(3), lambda points: top - points, settle, 60)
    np.testing.assert_allclose(found, np.broadcast_to(top, (3, 3)), atol=1e-3)
    assert np.all(heights > -1e-5)


def test_what_cannot_be_tried_is_refused(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = translated(make_network, tokenizer, ("none", "previous"))
    for ask in (analysis.perturbation_tests, analysis.adversary, analysis.best_attention):
        with pytest.raises(AttnvizError, match="has no attention"):
            ask(trace, weights, 0)
    with pytest.raises(AttnvizError, match="has no attention"):
        analysis.shuffled(trace, weights)
    trace, weights = translated(make_network, tokenizer, KINDS[0])
    for ask in (analysis.perturbation_tests, analysis.adversary, analysis.best_attention):
        with pytest.raises(IndexError):
            ask(trace, weights, 99)
    with pytest.raises(IndexError):
        analysis.best_attention(trace, weights, 0, 10_000)
    with pytest.raises(ValueError, match="from 0 to 1"):
        analysis.adversary(trace, weights, 0, bound=2)
    for count in (0, -1):
        with pytest.raises(ValueError, match="at least one permutation"):
            analysis.perturbation_tests(trace, weights, 0, permutations=count)
        with pytest.raises(ValueError, match="at least one permutation"):
            analysis.shuffled(trace, weights, permutations=count)


@pytest.mark.parametrize("kind", KINDS)
def test_a_look_that_is_all_on_one_piece_can_be_tried_too(
    make_network: ModelFactory, tokenizer: Tokenizer, kind
) -> None:
    length = len(tokenizer.encode(SENTENCES[2])) + 1
    only = ReplaceWeights(tuple(float(j == 2) for j in range(length)))
    trace, weights = translated(make_network, tokenizer, kind, [only])
    tried = analysis.perturbation_tests(trace, weights, 1, permutations=4)
    assert tried.real.weights[2] == 1
    assert tried.without_strongest.weights[2] == 0
    np.testing.assert_allclose(tried.without_strongest.weights.sum(), 1)
    assert tried.adversary.total_variation <= 0.01
    assert analysis.best_attention(trace, weights, 1).likelihood >= tried.real.likelihood * (1 - 1e-9)
    distances = analysis.minimal_change(trace, weights).distances
    assert np.all(distances > 0)
    answers = analysis.attribution_methods(trace, weights)
    assert np.all(answers.matrices["posterior"][:, 2] == 1)
