"""Attention scorers: two ways to compute a whole target, and bounds of two kinds."""

from __future__ import annotations

import functools

import pytest
import torch

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import ModelConfig
from attnviz.network.scorers import Scorer
from tests.conftest import ModelFactory


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_step_by_step_unroll_equals_whole_target(make_network: ModelFactory, attention: str) -> None:
    network = make_network(attention).requires_grad_(True).train()
    scorer, generator = network.decoder.attention, torch.Generator().manual_seed(3)
    source, previous = (torch.randint(4, 50, shape, generator=generator) for shape in ((3, 9), (3, 5)))
    lengths, fast = torch.tensor([9, 2, 6]), type(scorer).unroll
    found = []
    for unroll in (fast, Scorer.unroll):
        network.zero_grad()
        scorer.unroll = functools.partial(unroll, scorer)
        readouts, alignment = network(source, lengths, previous)
        (readouts.square().sum() + (alignment.square() * torch.arange(9)).sum()).backward()
        gradients = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
        found.append({"readouts": readouts.detach(), "alignment": alignment.detach()} | gradients)
    assert found[0].keys() == found[1].keys()
    for name, values in found[0].items():
        assert torch.allclose(values, found[1][name], rtol=1e-4, atol=1e-5), name


def test_location_gives_no_weight_after_its_last_position(make_network: ModelFactory) -> None:
    network = make_network("location", alignment_size=3)
    alignment = network(torch.full((2, 6), 5), torch.tensor([6, 2]), torch.full((2, 4), 5))[1]
    assert (alignment[0, :, 3:] == 0).all()
    assert (alignment[0, :, :3] > 0).all()
    assert (alignment[1, :, 2:] == 0).all()


@pytest.mark.parametrize("size", [7, 9])
def test_dot_needs_an_even_size(size: int) -> None:
    with pytest.raises(ValueError, match="hidden_size must be even"):
        ModelConfig(vocabulary_size=20, hidden_size=size, attention="dot")
    assert ModelConfig(vocabulary_size=20, hidden_size=size + 1, attention="dot").encoder_size == (size + 1) // 2
