"""Checkpoints trained by other programs: the imported model computes their networks' logits and attention."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from attnviz import AttnvizError, Translator
from attnviz.analysis import load_weights
from attnviz.analysis.diagram_texts import has_diagram
from attnviz.architectures import narrate, verifier_of
from attnviz.checkpoint import load_model
from attnviz.commands.main import main
from attnviz.importing.checkpoint_folder import CHECKPOINT_ENDINGS
from attnviz.importing.family import load_checkpoint, write_checkpoint
from attnviz.trace import WhatIfs

FIXTURES = Path(__file__).parent / "fixtures"


def _peer_outputs(folder: Path) -> list[dict[str, Any]]:
    """Return the peer's output for each sentence: texts, logits (Ty, K) and attention weights (Ty, Tx)."""
    with np.load(folder / "peer.npz") as arrays:
        return [{name: arrays[f"{name}{n}"] for name in ("source", "target", "logits", "attention")} for n in range(3)]


ORDERS = {
    "tutorial": [1, 0],
    "joey": [1, 0],
    "pytorch": [],
    "d2l": [3, 4, 1, 2, 0],
    "fairseq": [1, 3, 0, 2],
    "opennmt": [1, 0],
}
"""Ids in the peer of the first tokens in attnviz; the tutorial on pytorch.org has neither PAD nor UNK."""


@pytest.mark.parametrize("name", ORDERS)
def test_numbers_equal_those_of_training_program(name: str, tmp_path: Path) -> None:
    assert main(["import", str(FIXTURES / name), "-o", str(tmp_path / "mine")]) == 0
    translator, weights = Translator.load(tmp_path / "mine", device="cpu"), load_weights(tmp_path / "mine")
    network, _ = load_model(tmp_path / "mine")
    for output in _peer_outputs(FIXTURES / name):
        source, target = str(output["source"]), str(output["target"])
        size = output["logits"].shape[1]
        trace = translator.translate(source, target=target)
        _assert_close(trace.alignment, output["attention"])
        assert verifier_of(trace, weights).verify(1).holds  # type: ignore[arg-type]
        with torch.inference_mode():
            logits = network.logits(
                torch.tensor([trace.source_ids]),
                torch.tensor([len(trace.source_ids)]),
                torch.tensor([trace.previous_ids]),
            )[0].numpy()
        order = [*ORDERS[name], *range(len(ORDERS[name]), size)]
        _assert_close(logits[:, -len(order) :], output["logits"][:, order])
        assert np.exp(logits[:, : -len(order)]).sum() < 1e-30


@pytest.mark.parametrize("name", ["pytorch", "d2l", "fairseq", "opennmt"])
def test_greedy_translations_equal_those_of_the_program(name: str, tmp_path: Path) -> None:
    write_checkpoint(load_checkpoint(FIXTURES / name), tmp_path / "mine")
    translator = Translator.load(tmp_path / "mine", device="cpu")
    with np.load(FIXTURES / name / "peer.npz") as arrays:
        for n in range(3):
            trace, size = translator.translate(str(arrays[f"source{n}"]), beam=1), arrays[f"logits{n}"].shape[1]
            order = [*ORDERS[name], *range(len(ORDERS[name]), size)]
            added = len(translator.tokenizer) - size
            assert [order[place - added] for place in trace.target_ids] == arrays[f"greedy{n}"].tolist()


def test_vocabulary_of_another_size_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "pytorch", tmp_path, dirs_exist_ok=True)
    (tmp_path / "target.txt").write_text("SOS\nEOS\nthe\n")
    with pytest.raises(AttnvizError, match="3 tokens"):
        load_checkpoint(tmp_path)


def test_every_number_of_the_pytorch_tutorial_is_verified(tmp_path: Path) -> None:
    assert main(["import", str(FIXTURES / "pytorch"), "-o", str(tmp_path / "mine")]) == 0
    translator, weights = Translator.load(tmp_path / "mine", device="cpu"), load_weights(tmp_path / "mine")
    for options in ({}, {"beam": 3}, {"target": "the dog runs ."}):
        trace: Any = translator.translate("der hund läuft im park .", **options)  # type: ignore[arg-type]
        assert trace.annotations.shape[1] == trace.states.shape[1] == 24
        assert WhatIfs.from_json(trace.to_json()).first.fingerprint == trace.fingerprint
        for step in range(len(trace.target_pieces)):
            found = verifier_of(trace, weights).verify(step)
            assert found.holds, found.discrepancies
            assert all(one.sentence for one in narrate(trace, step))
            assert not [one for one in narrate(trace, step, simple=True) if "both ends" in one.sentence]
    assert not has_diagram(trace)
    altered = dataclasses.replace(trace, annotations=trace.annotations + 0.01)
    wrong = verifier_of(altered, weights).verify(0).discrepancies
    assert "annotations" in {one.quantity for one in wrong}


def _changed(content: Any, name: str, value: object) -> None:
    """Add an entry to the state dict of a loaded checkpoint."""
    for key in ("model", "model_state"):
        content = content.get(key, content)
    content[name] = value


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(torch.ones(2, 2), id="real"),
        pytest.param(torch.ones(2, 2, dtype=torch.int8), id="integers"),
        pytest.param(torch.tensor(True), id="truth-value"),
        pytest.param(torch.eye(2).to_sparse(), id="sparse"),
        pytest.param(torch.ones(2, dtype=torch.complex64), id="complex"),
        pytest.param(torch.zeros(1).expand(10**6, 10**6), id="expanded"),
        pytest.param(torch.zeros(2, device="meta"), id="meta"),
    ],
)
def test_unknown_entry_of_state_dict_is_never_ignored(name: str, value: torch.Tensor, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / name, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.iterdir()) if path.suffix in CHECKPOINT_ENDINGS)
    content = torch.load(path, weights_only=False)
    _changed(content, "rnn.gate_of_mine", value)
    torch.save(content, path)
    with pytest.raises(AttnvizError, match="gate_of_mine"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["fairseq", "opennmt", "joey"])
def test_packed_weight_is_named(name: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / name, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.iterdir()) if path.suffix in CHECKPOINT_ENDINGS)
    content = torch.load(path, weights_only=False)
    _changed(content, "decoder.packed", (torch.ones(2), None))
    torch.save(content, path)
    with pytest.raises(AttnvizError, match=r"decoder\.packed"):
        load_checkpoint(tmp_path)


def test_third_state_dict_beside_encoder_and_decoder_is_read(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "pytorch", tmp_path, dirs_exist_ok=True)
    halves = {half: torch.load(tmp_path / f"{half}.pt") for half in ("encoder", "decoder")}
    for half in halves:
        (tmp_path / f"{half}.pt").unlink()
    shared = {"weight": halves["encoder"]["embedding.weight"]}
    torch.save({**halves, "embedding": shared, "optimizer": {"state": {}, "param_groups": []}}, tmp_path / "both.pt")
    assert load_checkpoint(tmp_path).family == load_checkpoint(FIXTURES / "pytorch").family
    for attention in ({"weight": torch.ones(2, 2)}, {"weight": torch.ones(2, 2), "heads": 1}):
        torch.save({**halves, "attention": attention}, tmp_path / "both.pt")
        with pytest.raises(AttnvizError, match=r"attention\.weight"):
            load_checkpoint(tmp_path)


def _assert_close(found: NDArray[Any], expected: NDArray[Any]) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5
