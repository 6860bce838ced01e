"""Helpers that stop a training run and compare its state with that of an uninterrupted run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from attnviz.training import TrainingConfig, train


def run_until_validation(config: TrainingConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run, and stop as by Ctrl-C when it comes to validate for the first time."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("attnviz.training.loop._Run._validate", stop)
        with pytest.raises(KeyboardInterrupt):
            train(config)


def assert_same_state(one: str | Path, other: str | Path) -> None:
    """Assert that the last checkpoints of two runs, by their folders, are the same bit for bit."""
    expected, found = (load_file(Path(output) / "checkpoint.safetensors") for output in (one, other))
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        assert torch.equal(tensor, found[name]), name
