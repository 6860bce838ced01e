"""The networks: settings within bounds, gradients, and numbers of padded batches and single steps against NumPy."""

import functools
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnviz.analysis.judgement import recompute_decomposable
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding import padded
from attnviz.network import (
    Decomposable,
    DecomposableConfig,
    ModelConfig,
    RNNsearch,
    Transformer,
    TransformerConfig,
    read_fields,
)
from attnviz.network.model_config import READOUT_STATES
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence
from attnviz.network.scorers import Scorer
from attnviz.network.transformer import TransformerStepDecoder
from attnviz.text import BOS, EOS, PAD
from tests.detectors import random_detector
from tests.detectors import sizes as detector_sizes
from tests.strategies import FEW
from tests.transformers import random_transformer, sizes
from tests.whole_recomputation import recompute

CONFIGS = {
    "rnnsearch": ModelConfig(30, 12, 10, 7, 6),
    "transformer": TransformerConfig(30, 8, 2, 1, 6),
    "decomposable": DecomposableConfig(30, 8, 8),
}
REFUSED: dict[str, dict[str, list[Any]]] = {
    "rnnsearch": {"hidden_size": [0, 2.5, True, 10**12], "attention": ["soft"], "readout_state": ["next"]},
    "transformer": {
        "heads": [3, 0, 65],
        "layers": [0, True],
        "model_size": [5],
        "feedforward_size": [1.5],
        "hidden_size": [8],
    },
    "decomposable": {"embedding_size": [0], "model_size": [True], "heads": [2]},
}
"""Values of fields that an architecture refuses, besides those that all refuse."""


@pytest.mark.parametrize("architecture", CONFIGS)
def test_setting_out_of_bounds_is_named(architecture) -> None:
    fields = CONFIGS[architecture].to_dict()
    assert read_fields(fields) == CONFIGS[architecture]
    if architecture == "rnnsearch":
        assert read_fields(fields | {"attention": "dot", "hidden_size": 10}).encoder_size == 5
        with pytest.raises(ValueError, match="hidden_size must be even"):
            read_fields(fields | {"attention": "dot", "hidden_size": 9})
    of_all = {"dropout": [1.0, float("nan")], "vocabulary_size": [4, 1_000_001], "architecture": ["lstm"]}
    for field, values in (of_all | REFUSED[architecture]).items():
        for value in values:
            with pytest.raises(ValueError, match=field):
                pytest.fail(f"{field}={value}: {read_fields(fields | {field: value})}")


def scores(network: Any) -> Tensor:
    source, target = torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS, 9]])
    if isinstance(network, Decomposable):
        return network(source, torch.tensor([[9, EOS, PAD]])).logits
    return network.output(network(source, torch.tensor([3]), target)[0])


@pytest.mark.parametrize("name", [*ATTENTION_KINDS, "transformer", "decomposable"])
def test_gradients_reach_every_weight(name) -> None:
    kinds = {"transformer": Transformer, "decomposable": Decomposable}
    config: Any = CONFIGS.get(name) or ModelConfig(30, 12, 10, 7, 6, attention=name)
    network = kinds.get(name, RNNsearch)(config).double()
    network.initialise(torch.Generator().manual_seed(1))
    scores(network).square().sum().backward()
    for weight, parameter in network.named_parameters():
        assert parameter.grad is not None, weight
        assert parameter.grad.isfinite().all(), weight
        if not (name == "transformer" and weight.endswith(("query.weight", "key.weight"))):
            assert parameter.grad.any(), weight


SOURCES = [(17, 5, 90, 33, 33, 8, 61, EOS), (9, EOS), (40, 41, 42, 43, EOS)]
TARGET = (44, 12, 101, 7, 70, EOS)


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_padded_batch_equals_numpy_recomputation(make_network, attention, readout_state) -> None:
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
def test_step_by_step_unroll_equals_whole_target(make_network, attention) -> None:
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


IDS = st.lists(st.integers(4, 29), min_size=0, max_size=7).map(lambda ids: [*ids, EOS])


@settings(max_examples=FEW)
@given(config=sizes(), targets=st.lists(IDS, min_size=2, max_size=2), seed=st.integers(0, 99))
def test_step_by_step_decoding_equals_whole_pass(config, targets, seed) -> None:
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


@given(config=detector_sizes(), pairs=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_padded_pairs_equal_numpy_recomputation(config, pairs, seed) -> None:
    network = random_detector(config, seed).double()
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    together = network(*map(padded, zip(*pairs, strict=True)))
    for row, (source, target) in enumerate(pairs):
        expected = recompute_decomposable(weights, source, target)
        np.testing.assert_allclose(torch.softmax(together.logits[row], -1), expected["probabilities"], atol=1e-9)
        alone = network(torch.tensor([source]), torch.tensor([target]))
        for name, tensor in alone._asdict().items():
            np.testing.assert_allclose(tensor[0], expected[name], atol=1e-9, err_msg=name)
