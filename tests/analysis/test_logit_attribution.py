"""Logit attribution and energy decomposition: their parts add up to the numbers of the trace."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.analysis.energy_equations import energy_decomposition, saturated
from attnviz.analysis.logit_attribution import logit_attribution
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from tests.analysis.given import centred_attributions, forced_trace
from tests.strategies import FEW
from tests.whole_recomputation import recompute

KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from(KINDS),
    hidden_size=st.integers(1, 10).map(lambda half: 2 * half),  # even, for Luong's dot
    maxout_size=st.integers(1, 12),
    alignment_size=st.integers(1, 16),
    choice=st.randoms(use_true_random=False),
)
def test_parts_add_up_to_logits_and_energies(
    make_network, tokenizer, kind: tuple[str, str], choice, **sizes: int
) -> None:
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


def test_centred_attribution_is_measured_from_the_mean_of_the_vocabulary(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    cells = list(enumerate(trace.target_ids))[::4]
    for (step, piece), entry in zip(cells, centred_attributions(trace, weights, cells), strict=True):
        every = [logit_attribution(trace, weights, step, k) for k in range(len(tokenizer))]
        assert entry.piece_id == piece
        assert entry.logit == pytest.approx(every[piece].logit - np.mean([one.logit for one in every]), abs=1e-4)
        mean = np.mean([one.source for one in every], axis=0)
        np.testing.assert_allclose(entry.source, every[piece].source - mean, atol=1e-6)


def test_score_vector_of_an_old_trace_and_saturated_units(make_network, tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    old = dataclasses.replace(trace, score_vector=np.zeros(0, np.float32))
    units = energy_decomposition(old, weights, 1, 2)
    assert units.energy == energy_decomposition(trace, None, 1, 2).energy
    assert np.array_equal(saturated(units), 1 - np.tanh(units.query + units.key) ** 2 <= 1 - 0.99**2)
    with pytest.raises(ValueError, match="lacks v_a"):
        energy_decomposition(old, None, 1, 2)
