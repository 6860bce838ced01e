"""Training and forced decoding without float64, which some devices lack, and exact counts over processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attnviz import Translator
from attnviz.evaluation.forced import force_pairs
from attnviz.training import train
from attnviz.training.processes import ProcessGroup
from tests.conftest import SENTENCES
from tests.training.test_run import tiny


class _Refusing(TorchDispatchMode):
    """Fails on whatever torch computes in float64."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for value in tree_leaves(found):
            assert not (isinstance(value, torch.Tensor) and value.dtype == torch.float64), f"{func} gives float64"
        return found


@contextmanager
def no_float64() -> Iterator[None]:
    with _Refusing():
        yield


def test_float64_guard_raises() -> None:
    with pytest.raises(AssertionError, match="float64"), no_float64():
        torch.ones(3).double()


def test_training_run_computes_nothing_in_float64(files: tuple[Path, Path], tmp_path: Path) -> None:
    with no_float64():
        train(tiny(files, tmp_path / "run", updates=2, validate_every=2, guidance=0.5, matrix_rate=0.5, average=1))


def test_forced_decoding_computes_nothing_in_float64(translator: Translator) -> None:
    pairs = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
    with no_float64():
        found = force_pairs(translator, pairs)
    for pair, (source, target) in zip(found, pairs, strict=True):
        alone = translator.translate(source, target=target)
        assert pair.log_likelihood == pytest.approx(float(alone.log_probabilities.sum()), rel=1e-5)


def test_pieces_are_counted_exactly_over_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    def reduce(tensor: torch.Tensor) -> None:
        sent.append(tensor.dtype)
        tensor.mul_(2)

    monkeypatch.setattr(dist, "all_reduce", reduce)
    monkeypatch.setattr(dist, "broadcast", lambda tensor, _: sent.append(tensor.dtype))
    two = ProcessGroup(0, 2, torch.device("cpu"))
    assert two.count(2**24 + 1) == 2**25 + 2
    amounts = torch.tensor([[0.5, 3.0]])
    assert two.total(amounts).tolist() == [[1.0, 6.0]]
    assert amounts.tolist() == [[0.5, 3.0]]
    assert two.broadcast(-41.5) == -41.5
    assert set(sent) == {torch.int64, torch.float32}
    alone = ProcessGroup(0, 1, torch.device("cpu"))
    assert (alone.count(2**24 + 1), alone.total(amounts).tolist()) == (2**24 + 1, [[0.5, 3.0]])
