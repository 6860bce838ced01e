"""Attribution methods: each matrix against its definition, and the agreement between methods."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, Translator, analysis
from attnviz.analysis.attribution_methods import ATTRIBUTION_METHODS, kendall
from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.trace.interventions import ExcludePosition
from tests.analysis.given import KINDS, SIZES, centred_attributions, forced_trace
from tests.strategies import FEW


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
def test_added_logits_match_the_logit_attribution_of_each_step(make_network, tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    each = [one.source for one in logit_attributions(trace, weights, list(enumerate(trace.target_ids)))]
    np.testing.assert_allclose(analysis.added_logits(trace, weights), each, atol=1e-6)
    cells = list(enumerate(trace.target_ids))
    centred = [one.source for one in centred_attributions(trace, weights, cells)]
    found = analysis.attribution_methods(trace, weights).matrices["logit_attribution"]
    np.testing.assert_allclose(found, centred, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_erasure_equals_the_loss_when_a_position_is_excluded(make_network, tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    erased = analysis.attribution_methods(trace, weights).matrices["erased"]
    assert (erased < 0).any()
    for step, j in product((0, 3), range(0, erased.shape[1], 3)):
        without, _ = forced_trace(make_network, tokenizer, kind, [ExcludePosition(j, step=step)])
        lost = trace.log_probabilities[step] - without.log_probabilities[step]
        assert erased[step, j] == pytest.approx(lost, abs=3e-5)


def kendall_tau_b(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b, pair by pair."""
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
