"""The networks on a simulated GPU: fake tensors that claim to be on `cuda`.

Any operation that mixes devices fails, and nothing may be computed in float64, which MPS does not support.
"""

import ctypes
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import DeviceType
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attnviz import ExcludePosition, ReplaceEnergies, ReplaceWeights, Temperature
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding import DecodingPath
from attnviz.decoding.applied_interventions import constrained, energy_change
from attnviz.decoding.by_architecture import PreparedTransformer
from attnviz.decoding.search import _continuations
from attnviz.network import ModelConfig, RNNsearch, Transformer, TransformerConfig
from attnviz.network.encoder import PreparedEncoder
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import EOS
from attnviz.training.encoded_pairs import Batch
from attnviz.training.objective import Objective, SmoothedCrossEntropy

every_kind = pytest.mark.parametrize("attention", ATTENTION_KINDS)
K, B, TX, TY = 64, 3, 7, 5


class CountFloat64(TorchDispatchMode):
    """Counts, by operation, the float64 tensors that come out of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(one, Tensor) and one.dtype == torch.float64:
                self.found[str(func)] += 1
        return result


class KeepAll(TorchFunctionMode):
    """Lets a mask keep all there is: how much it keeps is in its numbers, and fake tensors have none."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.__getitem__ and isinstance(args[1], Tensor) and args[1].dtype == torch.bool:
            tensor, mask = args
            assert mask.device == tensor.device
            return tensor.flatten(0, mask.dim() - 1)
        return func(*args, **(kwargs or {}))


def _let_cpu_builds_say_cuda() -> None:
    """Give a torch built without CUDA the no-op device guard.

    `FakeTensorMode` itself does so where torch was built with CUDA and there is no GPU; without any guard, torch cannot
    even index a fake tensor.
    """
    if torch.version.cuda is not None:
        return
    (library,) = Path(torch.__file__).parent.glob("lib/libc10.*")
    meta, cuda = int(DeviceType.Meta), int(DeviceType.CUDA)
    name = "_ZN3c104impl26device_guard_impl_registryE"
    guards = (ctypes.c_void_p * (meta + 1)).in_dll(ctypes.CDLL(str(library)), name)
    guards[cuda] = guards[meta]


@contextmanager
def on_fake_gpu(made: nn.Module) -> Iterator[None]:
    """Move a network to a fake GPU; at the end nothing may have been in float64."""
    _let_cpu_builds_say_cuda()
    with FakeTensorMode(shape_env=ShapeEnv()), CountFloat64() as counted:
        for module in made.modules():
            for name, parameter in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(torch.empty(parameter.shape, device="cuda")))
        yield
    assert not counted.found


@pytest.fixture
def network(attention) -> Iterator[RNNsearch]:
    made = RNNsearch(ModelConfig(K, 8, 12, 10, 6, attention, dropout=0.1))
    with on_fake_gpu(made):
        yield made


@pytest.fixture
def transformer() -> Iterator[Transformer]:
    made = Transformer(TransformerConfig(K, 8, 2, 2, 6, dropout=0.1))
    with on_fake_gpu(made):
        yield made


def _ids(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.long, device="cuda")


def _batch() -> Batch:
    return Batch(source=_ids(B, TX), source_lengths=_ids(B), previous=_ids(B, TY), target=_ids(B, TY))


def _devices(*tensors: Tensor) -> set[str]:
    return {tensor.device.type for tensor in tensors}


@every_kind
def test_training_stays_on_the_device(network) -> None:
    batch = _batch()
    links = torch.ones(B, TY, TX, device="cuda")
    with KeepAll():
        loss, likelihood = Objective(network, 0.1, guidance=0.5)(batch, links)
    assert _devices(loss, likelihood) == {"cuda"}


class Context:
    """What autograd hands to a function, without its engine: that runs on devices that exist."""

    def __init__(self) -> None:
        self.needs_input_grad = (True,) * 9
        self.saved_tensors: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        pass


@every_kind
@torch.no_grad()
def test_gradients_stay_on_the_device(network, monkeypatch) -> None:
    ran: list[tuple[Any, Context, Any]] = []

    def recorded(function: Any) -> Any:
        def apply(*arguments: Any) -> Any:
            context = Context()
            ran.append((function, context, result := function.forward(context, *arguments)))
            return result

        return apply

    for function in (GRUSequence, AttentiveGRUSequence, SmoothedCrossEntropy):
        monkeypatch.setattr(function, "apply", recorded(function))
    batch = _batch()
    with KeepAll():
        Objective(network, 0.1)(batch)
    by_hand = not network.decoder.attention.reads_before  # torch computes the gradient of location features
    assert len(ran) == 2 + by_hand
    for function, context, result in ran:
        results = result if isinstance(result, tuple) else (result,)
        gradients = function.backward(context, *(torch.ones_like(one) for one in results))
        assert _devices(*(one for one in gradients if one is not None)) == {"cuda"}


@every_kind
@torch.no_grad()
def test_decoding_with_interventions_stays_on_the_device(network) -> None:
    decoder = StepDecoder(network.eval())
    lengths, row = _ids(2), (1.0, *(0.0,) * (TX - 1))
    memory = decoder.memory(PreparedEncoder(network.encoder)(_ids(2, TX), lengths), lengths)
    state = decoder.start(memory).select([0, 1], [[0, 0], [0, 0]])
    acting = [Temperature(0.5), ExcludePosition(1), ReplaceEnergies(row, 1), ReplaceWeights(row, 2)]
    for i in range(3):
        step, state = decoder.step(memory, state, _ids(2, 2), energy_change(acting, i))
        assert _devices(*memory.__dict__.values(), *step, *state) == {"cuda"}
    likely = decoder.output.log_probabilities(step.readout.flatten(0, 1)).view(2, 2, -1)
    likely = constrained(likely, {3: 20}, 3, 4)
    for ending, beam in (([False, False], 1), ([True, False], 2)):
        assert _devices(*_continuations(likely, torch.zeros(2, 2, device="cuda"), ending, beam, unk=False)) == {"cuda"}


def test_transformer_stays_on_the_device(transformer) -> None:
    batch = _batch()
    with KeepAll():
        loss, likelihood = Objective(transformer, 0.1)(batch)
    assert _devices(loss, likelihood) == {"cuda"}
    with torch.no_grad():
        prepared, lengths = PreparedTransformer(transformer.eval()), _ids(2)
        decoder = prepared.decoder
        memory = decoder.memory(transformer.encode(_ids(2, TX), lengths).annotations, lengths)
        state = decoder.start(memory).select([0, 1], [[0, 0], [0, 0]])
        step, state = decoder.step(memory, state, _ids(2, 2))
        # Without its inference mode, in which there are no fake tensors.
        path = DecodingPath((7, EOS), [], [])
        arrays = PreparedTransformer.recorded_arrays.__wrapped__(prepared, [5, 6, EOS], memory, path)
    found = (memory.annotations, memory.mask, *memory.keys, *memory.values, *step, *state.keys, *state.values)
    assert _devices(*found, *arrays.values()) == {"cuda"}
    with pytest.raises(RuntimeError, match="device"):
        transformer(_ids(B, TX), torch.ones(B, dtype=torch.long), _ids(B, TY))
