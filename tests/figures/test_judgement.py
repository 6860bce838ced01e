"""Figures and tables of a judgement by decomposable attention, and its invariance to word order."""

import numpy as np
import pytest

from attnviz.analysis.judgement import largest_difference, matching_positions, pair_attention, with_words_swapped
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.figures.judgement_figure import aggregated_table, attend_figure, bag_figure, compared_figure, verdict_table
from attnviz.network import DecomposableConfig
from attnviz.trace import Judgement
from tests.detectors import random_detector

ENGLISH, FRENCH = "Two dogs play in the snow.", "Deux chiens jouent dans la neige."


@pytest.fixture(scope="module")
def detector(tmp_path_factory, tokenizer) -> Detector:
    folder = tmp_path_factory.mktemp("detector")
    save_model(folder, random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1), tokenizer)
    return Detector.load(folder, "cpu")


@pytest.fixture(scope="module")
def judgement(detector) -> Judgement:
    return detector.judge(ENGLISH, FRENCH)


def test_attention_is_drawn_in_both_directions(judgement) -> None:
    for attention, weights in (
        (pair_attention(judgement), judgement.target_alignment),
        (pair_attention(judgement, "source"), judgement.source_alignment),
    ):
        assert attention.alignment is weights
        figure = attend_figure(attention).figure()
        np.testing.assert_array_equal(figure.data[0].z, weights)
        assert figure.layout.yaxis.range[0] == len(weights) - 0.5


def test_comparison_figure_draws_the_recorded_vectors(judgement) -> None:
    for step in range(len(judgement.target_pieces)):
        drawn = compared_figure(judgement, step)
        figure = drawn.figure()
        np.testing.assert_allclose(figure.data[0].z[2], judgement.target_comparisons[step])
        assert list(drawn.frame()["b"]) == list(judgement.target_projected[step])


def test_swapping_words_leaves_the_bag_of_vectors_unchanged(detector, judgement) -> None:
    other = detector.judge(with_words_swapped(ENGLISH, 1, 4), FRENCH)
    places = matching_positions(judgement, other)
    assert places is not None
    assert places != sorted(places)
    assert largest_difference(judgement, other, places) < 1e-4
    drawn = bag_figure(judgement, other)
    figure = drawn.figure()
    before, after = (np.asarray(trace.z) for trace in figure.data)
    np.testing.assert_allclose(before[places], after[:-1], atol=1e-4)
    np.testing.assert_allclose(before[-1], after[-1], atol=1e-4)
    assert len(drawn.frame()) == 2 * (len(judgement.source_pieces) + 1)


def test_bag_figure_without_a_swap_shows_one_sentence(judgement) -> None:
    drawn = bag_figure(judgement)
    figure = drawn.figure()
    (strips,) = figure.data
    np.testing.assert_allclose(strips.z[:-1], judgement.source_comparisons)
    np.testing.assert_allclose(strips.z[-1], judgement.source_comparisons.sum(axis=0), atol=1e-4)
    assert figure.layout.xaxis.title.text == f"{judgement.source_comparisons.shape[1]} units"
    assert len(drawn.frame()) == len(judgement.source_pieces) + 1


def test_tables_contain_the_sums_and_the_verdict(judgement) -> None:
    sums, verdict = aggregated_table(judgement), verdict_table(judgement)
    np.testing.assert_allclose(sums["v₁"], judgement.source_comparisons.sum(axis=0), atol=1e-4)
    np.testing.assert_allclose(sums["v₂"], judgement.target_comparisons.sum(axis=0), atol=1e-4)
    np.testing.assert_array_equal(sums["h"], judgement.hidden)
    odds = np.exp(verdict["o"] - verdict["o"].max())
    np.testing.assert_allclose(verdict["p"], odds / odds.sum(), atol=1e-6)
    assert verdict.loc["translation", "p"] == pytest.approx(judgement.probability)
