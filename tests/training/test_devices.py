"""Training and forced decoding without float64, which some devices lack, and exact counts over processes."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from attnviz.training.processes import ProcessGroup


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
