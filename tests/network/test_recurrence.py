"""Hand-written GRU gradients against finite differences, and the encoder against torch's GRU."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnviz.network import ModelConfig
from attnviz.network.encoder import Encoder
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(3)


def test_gru_gradients_equal_finite_differences() -> None:
    steps, directions, batch, n = 4, 2, 3, 3
    arguments = (
        _random(steps, directions, batch, 3 * n),
        _random(directions, batch, n),
        _random(directions, 3 * n, n),
        _random(directions, 3 * n),
    )
    assert torch.autograd.gradcheck(GRUSequence.apply, arguments)


@pytest.mark.parametrize("additive", [True, False])
def test_attentive_gru_gradients_equal_finite_differences(additive: bool) -> None:
    steps, batch, length, n = 3, 2, 4, 3
    size = 5 if additive else n
    mask = torch.zeros(batch, length, dtype=torch.float64)
    mask[1, 3] = float("-inf")
    arguments = (
        _random(steps, batch, 3 * n),
        _random(batch, n),
        _random(batch, length, size),
        _random(batch, length, 3 * n),
        mask,
        _random(3 * n, n),
        _random(3 * n),
        _random(size, n) if additive else None,
        _random(size) if additive else None,
    )
    assert torch.autograd.gradcheck(AttentiveGRUSequence.apply, arguments)


def test_encoder_equals_torch_gru_on_packed_sequences() -> None:
    encoder = Encoder(ModelConfig(vocabulary_size=20, embedding_size=6, hidden_size=5)).eval()
    lengths = torch.tensor([7, 1, 4, 7])
    source = torch.randint(4, 20, (4, 7))
    for row, length in zip(source, lengths, strict=True):
        row[length:] = 0
    packed = pack_padded_sequence(encoder.embedding(source), lengths, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(encoder.gru(packed)[0], batch_first=True)
    annotations = encoder(source, lengths)
    for row, length in enumerate(lengths):
        torch.testing.assert_close(annotations[row, :length], expected[row, :length], rtol=1e-5, atol=1e-6)
