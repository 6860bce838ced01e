"""The RNNsearch network against its NumPy recomputation, padding, gradients and config."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import BOS, EOS
from tests.conftest import ModelFactory
from tests.whole_recomputation import recompute

SOURCE = (17, 5, 90, 33, 33, 8, 61, EOS)
TARGET = (44, 12, 101, 7, 70, EOS)

every_kind = pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))


@every_kind
def test_forward_pass_equals_numpy_recomputation(
    make_network: ModelFactory, attention: str, readout_state: str
) -> None:
    network = make_network(attention, readout_state)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    expected = recompute(weights, network.config.to_dict(), SOURCE, TARGET)
    source, lengths = torch.tensor([SOURCE]), torch.tensor([len(SOURCE)])
    previous = torch.tensor([(BOS, *TARGET[:-1])])
    readouts, alignment = network(source, lengths, previous)
    np.testing.assert_allclose(network.encoder(source, lengths)[0], expected["annotations"], atol=1e-5)
    np.testing.assert_allclose(alignment[0], expected["alignment"], atol=1e-5)
    np.testing.assert_allclose(readouts[0], expected["readouts"], atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(
        network.output(network(source, lengths, previous)[0])[0], expected["logits"], atol=1e-5, rtol=1e-5
    )


@every_kind
def test_padded_batch_equals_single_sentences(make_network: ModelFactory, attention: str, readout_state: str) -> None:
    network = make_network(attention, readout_state)
    sources = [SOURCE, (9, EOS), (40, 41, 42, 43, EOS)]
    lengths = torch.tensor([len(source) for source in sources])
    batch = torch.zeros(3, len(SOURCE), dtype=torch.long)
    for row, source in zip(batch, sources, strict=True):
        row[: len(source)] = torch.tensor(source)
    previous = torch.tensor([(BOS, *TARGET[:-1])] * 3)
    readouts, alignment = network(batch, lengths, previous)
    for row, source in enumerate(sources):
        alone, weights = network(torch.tensor([source]), lengths[row : row + 1], previous[:1])
        torch.testing.assert_close(readouts[row], alone[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(alignment[row, :, : len(source)], weights[0], rtol=1e-5, atol=1e-5)
        assert (alignment[row, :, len(source) :] == 0).all()
