"""The transformer: NumPy recomputation, stepwise decoding, padding, positions and config."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.network import TransformerConfig
from attnviz.network.transformer import TransformerStepDecoder
from attnviz.text import BOS, EOS
from tests.strategies import FEW
from tests.transformers import random_transformer, sizes

IDS = st.lists(st.integers(4, 29), min_size=0, max_size=7).map(lambda ids: [*ids, EOS])


@settings(max_examples=FEW)
@given(config=sizes(), targets=st.lists(IDS, min_size=2, max_size=2), seed=st.integers(0, 99))
def test_step_by_step_decoding_equals_whole_pass(
    config: TransformerConfig, targets: list[list[int]], seed: int
) -> None:
    network = random_transformer(config, seed).double()
    source, lengths = torch.tensor([[5, 6, 7, EOS], [8, EOS, 0, 0]]), torch.tensor([4, 2])
    length = min(map(len, targets))
    previous = torch.tensor([[BOS, *target[: length - 1]] for target in targets])
    readouts, alignment = network(source, lengths, previous)
    assert not alignment[1, :, 2:].any()
    decoder = TransformerStepDecoder(network)
    memory = decoder.memory(network.encode(source, lengths).annotations, lengths)
    state = decoder.start(memory)
    for i in range(length):
        step, state = decoder.step(memory, state, previous[:, i : i + 1])
        torch.testing.assert_close(step.readout[:, 0], readouts[:, i])


def test_reordered_hypotheses_keep_their_own_cache() -> None:
    network = random_transformer(TransformerConfig(30, 8, 2, 2, 6), 3).double()
    decoder, lengths = TransformerStepDecoder(network), torch.tensor([3, 2])
    source = torch.tensor([[5, 6, EOS], [7, EOS, 0]])
    memory = decoder.memory(network.encode(source, lengths).annotations, lengths)
    _, state = decoder.step(memory, decoder.start(memory), torch.full((2, 1), BOS))
    state = state.select([0, 1], [[0, 0], [0, 0]])
    _, state = decoder.step(memory, state, torch.tensor([[9, 10], [11, 12]]))
    # Only the second sentence goes on, with its hypotheses the other way round.
    memory, state = memory.select([1]), state.select([1], [[1, 0]])
    step, _ = decoder.step(memory, state, torch.tensor([[13, 14]]))
    for place, words in enumerate(([12, 13], [11, 14])):
        readouts, _ = network(source[1:, :2], lengths[1:], torch.tensor([[BOS, *words]]))
        torch.testing.assert_close(step.readout[0, place], readouts[0, -1])
