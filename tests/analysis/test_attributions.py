"""Attributions of a step: every method against its definition or the recomputation, and their agreement."""

import ast
import dataclasses
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, ExcludePosition, ReplaceWeights, Trace, Translator, analysis
from attnviz.analysis import recomputation as again
from attnviz.analysis.attribution_methods import ATTRIBUTION_METHODS, kendall
from attnviz.analysis.energy_equations import energy_decomposition, saturated
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.logit_attribution import logit_attribution, logit_attributions
from attnviz.analysis.posterior import erasure_log_drops, posterior_words
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from tests.analysis.given import (
    KINDS,
    SIZES,
    Weights,
    centred_attributions,
    forced_trace,
    state_before,
    step_probabilities,
)
from tests.conftest import SENTENCES
from tests.strategies import FEW
from tests.whole_recomputation import recompute


@settings(max_examples=FEW // 2)
@given(**SIZES)
def test_every_method_has_a_row_for_each_step(make_network, tokenizer, kind, **sizes) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    attributions = Translator(make_network(*kind, **sizes), tokenizer).attributions(trace)
    found = analysis.attribution_methods(trace, weights, attributions)
    assert found.names == ATTRIBUTION_METHODS
    for name in found.names:
        matrix, shares, support = found.matrices[name], found.shares(name), found.support(name)
        assert matrix.dtype == np.float64
        assert matrix.shape == trace.alignment.shape
        amounts = np.abs(shares).sum(axis=1)
        assert np.all(np.isclose(amounts, 1) | (amounts == 0))
        assert np.all((np.sign(shares) == np.sign(matrix)) | (np.abs(shares) < 1e-300))
        known = ~np.isnan(support).any(axis=1)
        np.testing.assert_allclose(support[known].sum(axis=1), 1)
        assert np.all((matrix[~known] <= 0).all(axis=1))
    np.testing.assert_array_equal(found.matrices["attention"], trace.alignment.astype(np.float64))
    np.testing.assert_array_equal(found.matrices["posterior"], analysis.posterior(trace, weights, kind="posterior"))


@pytest.mark.parametrize("kind", KINDS)
def test_added_logits_and_erasure_match_their_definitions(make_network, tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    each = [one.source for one in logit_attributions(trace, weights, list(enumerate(trace.target_ids)))]
    np.testing.assert_allclose(analysis.added_logits(trace, weights), each, atol=1e-6)
    cells = list(enumerate(trace.target_ids))
    centred = [one.source for one in centred_attributions(trace, weights, cells)]
    found = analysis.attribution_methods(trace, weights).matrices["logit_attribution"]
    np.testing.assert_allclose(found, centred, atol=1e-6)
    erased = analysis.attribution_methods(trace, weights).matrices["erased"]
    assert (erased < 0).any()
    for step, j in product((0, 3), range(0, erased.shape[1], 3)):
        without, _ = forced_trace(make_network, tokenizer, kind, [ExcludePosition(j, step=step)])
        lost = trace.log_probabilities[step] - without.log_probabilities[step]
        assert erased[step, j] == pytest.approx(lost, abs=3e-5)


def kendall_tau_b(one: np.ndarray, other: np.ndarray) -> float:
    pairs = list(combinations(range(len(one)), 2))
    sides = [[np.sign(row[a] - row[b]) for a, b in pairs] for row in (one, other)]
    concordant = sum(a * b for a, b in zip(*sides, strict=True))
    untied = [sum(side != 0 for side in row) for row in sides]
    return float(concordant / np.sqrt(untied[0] * untied[1])) if all(untied) else float("nan")


@given(rows=st.lists(st.lists(st.integers(-3, 3), min_size=6, max_size=6), min_size=2, max_size=4))
def test_kendall_matches_a_count_over_pairs(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    found = kendall(values)
    expected = [[kendall_tau_b(one, other) for other in values] for one in values]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_agreement_matches_its_definition() -> None:
    one = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    two = np.array([[0.2, 0.3, 0.5], [-1.0, 2.0, 0.0]])
    nothing = np.array([[-1.0, -2.0, -3.0], [0.0, 0.0, 0.0]])
    found = analysis.AttributionMethods({"attention": one, "posterior": two, "logit_attribution": nothing})
    over_all = analysis.agreement(found)
    assert over_all.top[0, 1] == 0.5
    assert over_all.variation[0, 1] == pytest.approx(np.mean([0.3, 0.2]))
    assert np.isnan(over_all.variation[0, 2])  # no entry of its rows is positive
    assert over_all.tau[0, 1] == pytest.approx(np.mean([-1, kendall_tau_b(one[1], two[1])]))
    first = analysis.agreement(found, 0)
    assert (first.top[0, 1], first.tau[0, 1]) == (0, -1)
    assert first.tau[0, 2] == 1
    assert np.isnan(analysis.agreement(found, 1).tau[0, 2])
    assert over_all.least_agreeing() == ("posterior", "logit_attribution")
    assert over_all.most_agreeing() == ("attention", "posterior")
    with pytest.raises(AttnvizError):
        analysis.agreement(found, 2)


def test_posterior_of_words_merges_that_of_pieces_and_unknown_kinds_are_refused(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    with pytest.raises(AttnvizError, match=r"“kind” must be .*guess"):
        analysis.posterior(trace, weights, kind="guess")  # type: ignore[arg-type]
    _, others = forced_trace(make_network, tokenizer, ("additive", "previous"), hidden_size=3)
    with pytest.raises(AttnvizError, match="does not fit"):
        analysis.posterior(trace, others)
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
        [found.change(i) for i in range(-1, len(variation) - 1)], np.roll(variation, 1), atol=1e-6
    )
    with pytest.raises(AttnvizError):
        found.change(len(variation))


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


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from([*product(ATTENTION_KINDS, READOUT_STATES)]),
    hidden_size=st.integers(1, 10).map(lambda half: 2 * half),  # even, for Luong's dot
    maxout_size=st.integers(1, 12),
    alignment_size=st.integers(1, 16),
    choice=st.randoms(use_true_random=False),
)
def test_parts_add_up_to_logits_and_energies(make_network, tokenizer, kind, choice, **sizes: int) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    exact = recompute(weights, trace.config, trace.source_ids, trace.target_ids)["logits"]
    for _ in range(5):
        step, piece, other = choice.randrange(len(trace.target_pieces)), *choice.sample(range(len(tokenizer)), 2)
        own, foil = (logit_attribution(trace, weights, step, one) for one in (piece, other))
        assert own.source.shape == (len(trace.source_pieces),)
        assert own.logit == pytest.approx(exact[step, piece], abs=1e-4)
        assert (own - foil).logit == pytest.approx(exact[step, piece] - exact[step, other], abs=1e-4)
        if kind[0] == "none":
            continue
        # *location* attention has no units for positions beyond its largest.
        position = choice.choice(np.flatnonzero(np.isfinite(trace.energies[step])).tolist())
        units = energy_decomposition(trace, None, step, position)
        assert units.energy == pytest.approx(float(trace.energies[step, position]), abs=1e-5)
    with pytest.raises(ValueError, match="one step"):
        logit_attribution(trace, weights, 2, 10) - logit_attribution(trace, weights, 3, 10)


def test_attributions_are_measured_from_the_mean_and_old_traces_have_no_score_vector(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    cells = list(enumerate(trace.target_ids))[::4]
    for (step, piece), entry in zip(cells, centred_attributions(trace, weights, cells), strict=True):
        every = [logit_attribution(trace, weights, step, k) for k in range(len(tokenizer))]
        assert entry.piece_id == piece
        assert entry.logit == pytest.approx(every[piece].logit - np.mean([one.logit for one in every]), abs=1e-4)
        mean = np.mean([one.source for one in every], axis=0)
        np.testing.assert_allclose(entry.source, every[piece].source - mean, atol=1e-6)
    old = dataclasses.replace(trace, score_vector=np.zeros(0, np.float32))
    units = energy_decomposition(old, weights, 1, 2)
    assert units.energy == energy_decomposition(trace, None, 1, 2).energy
    assert np.array_equal(saturated(units), 1 - np.tanh(units.query + units.key) ** 2 <= 1 - 0.99**2)
    with pytest.raises(ValueError, match="lacks v_a"):
        energy_decomposition(old, None, 1, 2)
