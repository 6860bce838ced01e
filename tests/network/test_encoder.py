"""The prepared encoder of inference computes what the encoder of training computes."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.network import ModelConfig, RNNsearch
from attnviz.network.encoder import PreparedEncoder

PIECES = 12


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=7), seed=st.integers(0, 2**31))
def test_prepared_encoder_equals_training_encoder(lengths: list[int], seed: int) -> None:
    """In a batch of any order, where some pieces occur often; padding has none."""
    generator = torch.Generator().manual_seed(seed)
    network = RNNsearch(ModelConfig(PIECES, 5, 6, 4, 3)).eval()
    network.initialise(generator)
    source = torch.randint(0, PIECES, (len(lengths), max(lengths)), generator=generator)
    prepared = PreparedEncoder(network.encoder)
    for order in (lengths, sorted(lengths), sorted(lengths, reverse=True)):
        pieces = torch.tensor(order)
        with torch.inference_mode():
            found, expected = prepared(source, pieces), network.encoder(source, pieces)
        for row, length in enumerate(order):
            torch.testing.assert_close(found[row, :length], expected[row, :length], atol=1e-6, rtol=0)
        assert found.isfinite().all()
