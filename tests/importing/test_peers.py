"""Checkpoints trained by other programs: the imported model computes their networks' logits and attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from attnviz import Translator
from attnviz.analysis import load_weights
from attnviz.architectures import verifier_of
from attnviz.checkpoint import load_model
from attnviz.commands.program import main
from attnviz.importing.family import load_checkpoint

FIXTURES = Path(__file__).parent / "fixtures"


def _peer_outputs(folder: Path) -> list[dict[str, Any]]:
    """Return the peer's output for each sentence: texts, logits (Ty, K) and attention weights (Ty, Tx)."""
    with np.load(folder / "peer.npz") as arrays:
        return [{name: arrays[f"{name}{n}"] for name in ("source", "target", "logits", "attention")} for n in range(3)]


@pytest.mark.parametrize("name", ["tutorial", "joey"])
def test_numbers_equal_those_of_training_program(name: str, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(FIXTURES / name)
    assert main(["import", str(FIXTURES / name), "-o", str(tmp_path / "mine")]) == 0
    translator, weights = Translator.load(tmp_path / "mine", device="cpu"), load_weights(tmp_path / "mine")
    network, _ = load_model(tmp_path / "mine")
    for output in _peer_outputs(FIXTURES / name):
        source, target = str(output["source"]), str(output["target"])
        course = checkpoint.course(source.split(), target.split())
        _assert_close(course.logits, output["logits"])
        _assert_close(course.alignment, output["attention"])
        trace = translator.translate(source, target=target)
        _assert_close(trace.alignment, output["attention"])
        assert verifier_of(trace, weights).verify(1).holds  # type: ignore[arg-type]
        with torch.inference_mode():
            logits = network.logits(
                torch.tensor([trace.source_ids]),
                torch.tensor([len(trace.source_ids)]),
                torch.tensor([trace.previous_ids]),
            )[0].numpy()
        _assert_close(logits, output["logits"][:, [1, 0, *range(2, logits.shape[1])]])  # in attnviz, PAD comes first


def _assert_close(found: NDArray[Any], expected: NDArray[Any]) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5
