"""Saving and loading of model folders. Damaged folders: see test_translator."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import load_model, save_model
from attnviz.text import Tokenizer
from tests.conftest import ModelFactory


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_round_trip(tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str) -> None:
    network = make_network(attention, "current")
    save_model(tmp_path / "new" / "folder", network, tokenizer, dtype=torch.float32)
    loaded, its_tokenizer = load_model(tmp_path / "new" / "folder")
    assert loaded.config == network.config
    assert its_tokenizer.model == tokenizer.model
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    expected = network.state_dict()
    assert loaded.state_dict().keys() == expected.keys()
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, expected[name]), name


def test_weights_are_stored_as_float16_and_read_exactly(model_folder: Path) -> None:
    stored, network = load_file(model_folder / "model.safetensors"), load_model(model_folder)[0]
    for name, tensor in network.state_dict().items():
        assert (stored[name].dtype, tensor.dtype) == (torch.float16, torch.float32)
        assert torch.equal(stored[name].float(), tensor), name


def test_interrupted_save_leaves_old_model(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path, make_network(), tokenizer)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    network = make_network()
    network.decoder.output.bias.add_(1)

    def killed(path: Path, _tensors: object) -> None:
        path.write_bytes(b"half of the weights")
        raise KeyboardInterrupt

    monkeypatch.setattr("attnviz.checkpoint.write_tensors", killed)
    with pytest.raises(KeyboardInterrupt):
        save_model(tmp_path, network, tokenizer)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
