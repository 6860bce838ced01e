"""The RNNsearch network in training: numbers of a padded batch against NumPy, and gradients."""

import functools
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence
from attnviz.network.scorers import Scorer
from attnviz.text import BOS, EOS
from tests.whole_recomputation import recompute

SOURCES = [(17, 5, 90, 33, 33, 8, 61, EOS), (9, EOS), (40, 41, 42, 43, EOS)]
TARGET = (44, 12, 101, 7, 70, EOS)


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_padded_batch_equals_numpy_recomputation(make_network, attention: str, readout_state: str) -> None:
    network = make_network(attention, readout_state)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    batch, lengths = pad_sequence([*map(torch.tensor, SOURCES)], batch_first=True), torch.tensor([*map(len, SOURCES)])
    previous = torch.tensor([(BOS, *TARGET[:-1])] * len(SOURCES))
    annotations, (readouts, alignment) = network.encoder(batch, lengths), network(batch, lengths, previous)
    logits = network.output(readouts)
    for row, source in enumerate(SOURCES):
        exact, length = recompute(weights, network.config.to_dict(), source, TARGET), len(source)
        found = {"annotations": annotations[row, :length], "alignment": alignment[row, :, :length]}
        for name, values in (found | {"readouts": readouts[row], "logits": logits[row]}).items():
            np.testing.assert_allclose(values, exact[name], atol=1e-5, rtol=1e-5, err_msg=name)
        assert not alignment[row, :, length:].any()


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_step_by_step_unroll_equals_whole_target(make_network, attention: str) -> None:
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


def test_location_gives_no_weight_after_its_last_position(make_network) -> None:
    network = make_network("location", alignment_size=3)
    alignment = network(torch.full((2, 6), 5), torch.tensor([6, 2]), torch.full((2, 4), 5))[1]
    assert (alignment[0, :, 3:] == 0).all()
    assert (alignment[0, :, :3] > 0).all()
    assert (alignment[1, :, 2:] == 0).all()


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_hand_written_gradients_equal_finite_differences() -> None:
    """Of the encoder's GRUs, and of the decoder's with and without additive attention."""
    torch.manual_seed(3)
    steps, directions, batch, length, n = 3, 2, 2, 4, 3
    gru = (_random(steps, directions, batch, 3 * n), _random(directions, batch, n))
    weights = (_random(directions, 3 * n, n), _random(directions, 3 * n))
    assert torch.autograd.gradcheck(GRUSequence.apply, (*gru, *weights))
    mask = torch.zeros(batch, length, dtype=torch.float64)
    mask[1, 3] = float("-inf")
    for size, additive in ((5, True), (n, False)):
        inputs = (_random(steps, batch, 3 * n), _random(batch, n), _random(batch, length, size))
        arguments = (*inputs, _random(batch, length, 3 * n), mask, _random(3 * n, n), _random(3 * n))
        scorer = (_random(size, n), _random(size)) if additive else (None, None)
        assert torch.autograd.gradcheck(AttentiveGRUSequence.apply, (*arguments, *scorer))
