"""The decomposable attention network: NumPy recomputation, padding, order of pieces, config."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.judgement import recompute_decomposable
from attnviz.decoding import padded
from attnviz.network import DecomposableConfig
from attnviz.text import EOS
from tests.detectors import random_detector, sizes

IDS = st.lists(st.integers(4, 29), min_size=0, max_size=7).map(lambda ids: [*ids, EOS])


@given(config=sizes(), pairs=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_padded_batch_equals_numpy_recomputation(
    config: DecomposableConfig, pairs: list[tuple[list[int], list[int]]], seed: int
) -> None:
    network = random_detector(config, seed).double()
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    together = network(*map(padded, zip(*pairs, strict=True)))
    for row, (source, target) in enumerate(pairs):
        expected = recompute_decomposable(weights, source, target)
        np.testing.assert_allclose(torch.softmax(together.logits[row], -1), expected["probabilities"], atol=1e-9)
        alone = network(torch.tensor([source]), torch.tensor([target]))
        for name, tensor in alone._asdict().items():
            np.testing.assert_allclose(tensor[0], expected[name], atol=1e-9, err_msg=name)


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
