"""Logit attribution and energy decomposition: their parts add up to the numbers of the trace."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.analysis.energy_equations import energy_decomposition, saturated
from attnviz.analysis.logit_attribution import logit_attribution
from attnviz.analysis.measures import ranked
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.translator import Translator
from tests.analysis.given import centred_attributions
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW
from tests.whole_recomputation import recompute

KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))
EVEN = st.integers(1, 10).map(lambda half: 2 * half)
"""Hidden sizes for any attention: Luong's *dot* splits an even size between the encoder's directions."""


def _forced_translation(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], **sizes: int
) -> tuple[Trace, dict]:
    network = make_network(*kind, **sizes)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    return Translator(network, tokenizer).translate(SENTENCES[2], target=SENTENCES[3]), weights


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from(KINDS),
    hidden_size=EVEN,
    maxout_size=st.integers(1, 12),
    alignment_size=st.integers(1, 16),
    choice=st.randoms(use_true_random=False),
)
def test_the_entries_of_a_logit_attribution_add_up_to_the_logit(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], choice, **sizes: int
) -> None:
    trace, weights = _forced_translation(make_network, tokenizer, kind, **sizes)
    exact = recompute(weights, trace.config, trace.source_ids, trace.target_ids)
    for _ in range(5):
        step, piece = choice.randrange(len(trace.target_pieces)), choice.randrange(len(tokenizer))
        entry = logit_attribution(trace, weights, step, piece)
        assert entry.source.shape == (len(trace.source_pieces),)
        assert entry.logit == pytest.approx(exact["logits"][step, piece], abs=1e-4)


def test_a_contrast_is_the_difference_of_two_logit_attributions(
    make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    trace, weights = _forced_translation(make_network, tokenizer, ("additive", "previous"))
    exact = recompute(weights, trace.config, trace.source_ids, trace.target_ids)
    contrast = logit_attribution(trace, weights, 2, 10) - logit_attribution(trace, weights, 2, 20)
    assert contrast.logit == pytest.approx(exact["logits"][2, 10] - exact["logits"][2, 20], abs=1e-4)
    with pytest.raises(ValueError, match="one step"):
        logit_attribution(trace, weights, 2, 10) - logit_attribution(trace, weights, 3, 10)


def test_centred_attribution_is_measured_from_the_mean_of_the_vocabulary(
    make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    trace, weights = _forced_translation(make_network, tokenizer, ("additive", "previous"))
    exact = recompute(weights, trace.config, trace.source_ids, trace.target_ids)
    cells = list(enumerate(trace.target_ids))
    for (step, piece), entry in zip(cells, centred_attributions(trace, weights, cells), strict=True):
        assert entry.piece_id == piece
        assert entry.logit == pytest.approx(exact["logits"][step, piece] - exact["logits"][step].mean(), abs=1e-4)
        every = [logit_attribution(trace, weights, step, k).source for k in range(len(tokenizer))]
        own = logit_attribution(trace, weights, step, piece).source
        np.testing.assert_allclose(entry.source, own - np.mean(every, axis=0), atol=1e-6)


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from([kind for kind in KINDS if kind[0] != "none"]),
    hidden_size=EVEN,
    alignment_size=st.integers(1, 16),
    choice=st.randoms(use_true_random=False),
)
def test_units_add_up_to_the_energy(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], choice, **sizes: int
) -> None:
    trace, _ = _forced_translation(make_network, tokenizer, kind, **sizes)
    for _ in range(5):
        step = choice.randrange(len(trace.target_pieces))
        # *location* attention has no units for positions beyond its largest.
        position = choice.choice(np.flatnonzero(np.isfinite(trace.energies[step])).tolist())
        units = energy_decomposition(trace, None, step, position)
        assert units.energy == pytest.approx(float(trace.energies[step, position]), abs=1e-5)
        largest = np.abs(units.contributions)[ranked(np.abs(units.contributions))]
        assert np.all(np.diff(largest) <= 0)


def test_an_old_trace_takes_its_score_vector_from_the_weights(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = _forced_translation(make_network, tokenizer, ("additive", "previous"))
    old = dataclasses.replace(trace, score_vector=np.zeros(0, np.float32))
    assert energy_decomposition(old, weights, 1, 2).energy == energy_decomposition(trace, None, 1, 2).energy
    with pytest.raises(ValueError, match="lacks v_a"):
        energy_decomposition(old, None, 1, 2)


def test_saturated_units_are_those_whose_tanh_is_flat(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = _forced_translation(make_network, tokenizer, ("additive", "previous"))
    units = energy_decomposition(trace, weights, 0, 0)
    assert np.array_equal(saturated(units), 1 - np.tanh(units.query + units.key) ** 2 <= 1 - 0.99**2)
