"""The transformer on a simulated GPU: no operation mixes devices or computes in float64."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from attnviz.network import Transformer, TransformerConfig
from attnviz.network.transformer import TransformerStepDecoder
from attnviz.training.encoded_pairs import Batch
from attnviz.training.objective import Objective
from tests.network.test_devices import TX, TY, B, CountFloat64, K, KeepAll, _devices, _ids, _let_cpu_builds_say_cuda


@pytest.fixture
def network() -> Iterator[Transformer]:
    """Yield a network on a fake GPU; at the end nothing may have been in float64."""
    _let_cpu_builds_say_cuda()
    made = Transformer(TransformerConfig(K, 8, 2, 2, 6, dropout=0.1))
    with FakeTensorMode(shape_env=ShapeEnv()), CountFloat64() as counted:
        for module in made.modules():
            for name, parameter in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(torch.empty(parameter.shape, device="cuda")))
        yield made
    assert not counted.found


def test_training_stays_on_the_device(network: Transformer) -> None:
    batch = Batch(source=_ids(B, TX), source_lengths=_ids(B), previous=_ids(B, TY), target=_ids(B, TY))
    with KeepAll():
        loss, likelihood = Objective(network, 0.1)(batch)
    assert _devices(loss, likelihood) == {"cuda"}


@torch.no_grad()
def test_decoding_stays_on_the_device(network: Transformer) -> None:
    decoder, lengths = TransformerStepDecoder(network.eval()), _ids(2)
    memory = decoder.memory(network.encode(_ids(2, TX), lengths).annotations, lengths)
    state = decoder.start(memory).select([0, 1], [[0, 0], [0, 0]])
    step, state = decoder.step(memory, state, _ids(2, 2))
    found = (memory.annotations, memory.mask, *memory.keys, *memory.values, *step, *state.keys, *state.values)
    assert _devices(*found) == {"cuda"}


def test_tensor_on_cpu_raises(network: Transformer) -> None:
    with pytest.raises(RuntimeError, match="device"):
        network(_ids(B, TX), torch.ones(B, dtype=torch.long), _ids(B, TY))
