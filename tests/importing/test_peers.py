"""Checkpoints that other people's own programs trained: their own networks' logits, here and as a model of the page."""

from __future__ import annotations

import os
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

if not os.environ.get("CI"):
    pytest.importorskip("yaml")

FIXTURES = Path(__file__).parent / "fixtures"


def _said(folder: Path) -> list[dict[str, Any]]:
    """Return what the peer's network said of each sentence: its texts, logits (Ty, K) and weights (Ty, Tx)."""
    with np.load(folder / "peer.npz") as kept:
        return [{name: kept[f"{name}{n}"] for name in ("source", "target", "logits", "attention")} for n in range(3)]


@pytest.mark.parametrize("name", ["tutorial", "joey"])
def test_its_numbers_are_those_of_the_program_that_trained_it(name: str, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(FIXTURES / name)
    assert main(["import", str(FIXTURES / name), "-o", str(tmp_path / "mine")]) == 0
    translator, weights = Translator.load(tmp_path / "mine", device="cpu"), load_weights(tmp_path / "mine")
    network, _ = load_model(tmp_path / "mine")
    for said in _said(FIXTURES / name):
        source, target = str(said["source"]), str(said["target"])
        course = checkpoint.course(source.split(), target.split())
        _near(course.logits, said["logits"])
        _near(course.alignment, said["attention"])
        trace = translator.translate(source, target=target)
        _near(trace.alignment, said["attention"])
        assert verifier_of(trace, weights).verify(1).holds  # type: ignore[arg-type]
        with torch.inference_mode():
            logits = network.logits(
                torch.tensor([trace.source_ids]),
                torch.tensor([len(trace.source_ids)]),
                torch.tensor([trace.previous_ids]),
            )[0].numpy()
        _near(logits, said["logits"][:, [1, 0, *range(2, logits.shape[1])]])  # where the padding comes first


def _near(found: NDArray[Any], expected: NDArray[Any]) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5
