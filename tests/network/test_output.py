"""The output layer: the likeliest piece and log probabilities match those of all logits."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from attnviz.network import output
from attnviz.network.output import OutputLayer

FIRST = 3


@pytest.fixture(autouse=True)
def select_in_8_bits(monkeypatch) -> None:
    """Select candidates in 8 bits also on processors without instructions for it."""
    monkeypatch.setattr(output, "choose_coarse_precision", lambda *_: "int8")


def layer_of(weight: Tensor, bias: Tensor) -> OutputLayer:
    layer = nn.Linear(weight.shape[1], weight.shape[0]).requires_grad_(False)
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
    return OutputLayer(layer)


def assert_likeliest(layer: OutputLayer, readouts: Tensor) -> None:
    """Assert that no allowed piece has a larger logit in float64 than the one found, except for float32's rounding.

    It must hold for many readouts, whose candidates are selected in a first pass, and for one.
    """
    for first in (FIRST, FIRST + 1):
        together = layer.likeliest(readouts, first)
        for readout, found in zip(readouts, together, strict=True):
            terms = layer.weight.double() * readout.double()
            logits = terms.sum(1) + layer.bias
            for piece in (found, *layer.likeliest(readout[None], first)):
                assert piece >= first
                rounding = 1e-6 * float(terms.abs().sum(1).max() + layer.bias.abs().max()) + 1e-30
                assert float(logits[piece]) >= float(logits[first:].max()) - rounding


@given(
    seed=st.integers(0, 2**31),
    pieces=st.integers(FIRST + 2, 400),
    units=st.integers(1, 70),
    spread=st.sampled_from([0.0, 1.0, 4.0]),
    nearness=st.sampled_from([0.0, 1e-7, 1e-5, 1e-3, 1.0]),
    size=st.sampled_from([1e-6, 1.0, 1e4]),
)
def test_likeliest_piece_has_largest_logit(seed, pieces, units, spread, nearness, size) -> None:
    """Rows of very unequal lengths, rows that are nearly one another's copies, and readouts of any size."""
    source = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=source)

    lengths = (spread * normal(pieces, 1)).exp()
    copies = torch.randint(0, pieces, (pieces,), generator=source) if nearness < 1 else torch.arange(pieces)
    weight = (lengths * normal(pieces, units))[copies]
    weight += nearness * weight.abs().mean() * normal(pieces, units)
    bias = spread * normal(pieces)[copies]
    assert_likeliest(layer_of(weight, bias), size * normal(9, units))


def test_likeliest_piece_among_rows_equal_in_8_bits_and_of_nan() -> None:
    """Of a hundred rows that 8 bits cannot tell from one another, the sieve finds the likeliest all the same."""
    source = torch.Generator().manual_seed(1)
    weight = torch.randn(2000, 64, generator=source)
    weight[::20] = weight[0] + 1e-4 * torch.randn(100, 64, generator=source)
    readouts = weight[0] + torch.randn(50, 64, generator=source)
    layer = layer_of(weight, torch.zeros(2000))
    assert layer.coarse is not None
    assert layer.coarse(readouts)[0].argmax(1).tolist() != layer.likeliest(readouts, FIRST)
    assert_likeliest(layer, readouts)
    assert len(layer.likeliest(torch.full((9, 64), float("nan")), FIRST)) == 9  # of a run that diverges
