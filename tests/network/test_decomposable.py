"""The decomposable attention network: NumPy recomputation, padding, order of pieces, config."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.analysis.judgement import recompute_decomposable
from attnviz.network import DecomposableConfig
from attnviz.text import EOS, PAD
from tests.detectors import random_detector, sizes
from tests.strategies import FEW

IDS = st.lists(st.integers(4, 29), min_size=0, max_size=7).map(lambda ids: [*ids, EOS])


@given(config=sizes(), source=IDS, target=IDS, seed=st.integers(0, 99))
def test_network_equals_numpy_recomputation(
    config: DecomposableConfig, source: list[int], target: list[int], seed: int
) -> None:
    network = random_detector(config, seed).double()
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    expected = recompute_decomposable(weights, source, target)
    found = network(torch.tensor([source]), torch.tensor([target]))
    for name, tensor in found._asdict().items():
        np.testing.assert_allclose(tensor[0], expected[name], atol=1e-9, err_msg=name)
    np.testing.assert_allclose(torch.softmax(found.logits[0], -1), expected["probabilities"], atol=1e-9)


@given(source=IDS, target=IDS, seed=st.integers(0, 99), random=st.randoms(use_true_random=False))
def test_order_of_pieces_does_not_change_output(
    source: list[int], target: list[int], seed: int, random: object
) -> None:
    orders = [random.sample(range(len(side)), len(side)) for side in (source, target)]  # type: ignore[attr-defined]
    mixed = [[side[place] for place in order] for side, order in zip((source, target), orders, strict=True)]
    network = random_detector(DecomposableConfig(30, 6, 7), seed).double()
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    # In exact arithmetic it is the same number; where each sum is rounded once, at its end, it is the same bits.
    before, after = recompute_decomposable(weights, source, target), recompute_decomposable(weights, *mixed)
    for name in ("source_sum", "target_sum", "hidden", "logits", "probabilities"):
        assert np.array_equal(before[name], after[name]), name
    assert np.array_equal(before["energies"][np.ix_(*orders)], after["energies"])
    assert np.array_equal(before["source_alignment"][np.ix_(*orders)], after["source_alignment"])
    one, other = (network(torch.tensor([s]), torch.tensor([t])).logits for s, t in ((source, target), mixed))
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@settings(max_examples=FEW)
@given(pairs=st.lists(st.tuples(IDS, IDS), min_size=2, max_size=4), seed=st.integers(0, 99))
def test_batched_pairs_equal_single_pairs(pairs: list[tuple[list[int], list[int]]], seed: int) -> None:
    network = random_detector(DecomposableConfig(30, 6, 7), seed).double()
    sides = []
    for side in zip(*pairs, strict=True):
        longest = max(map(len, side))
        sides.append(torch.tensor([ids + [PAD] * (longest - len(ids)) for ids in side]))
    together = network(*sides).logits
    for row, (source, target) in enumerate(pairs):
        torch.testing.assert_close(network(torch.tensor([source]), torch.tensor([target])).logits[0], together[row])
