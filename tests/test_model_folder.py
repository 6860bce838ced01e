"""Model folders: saved, loaded, and read without torch. Damaged ones are in `test_translator.py`."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz import AttnvizError, Translator, analysis, model_folder
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import load_model, save_model
from attnviz.lru_cache import stamp
from attnviz.model_folder import weights_digest
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from tests.conftest import ModelFactory


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(model_folder, tmp_path / "model")


def test_arrays_equal_network_weights(folder: Path, translator: Translator) -> None:
    weights = analysis.load_weights(folder)
    expected = translator.network.state_dict()
    assert weights.keys() == expected.keys()
    for name, values in weights.items():
        assert values.dtype == np.float16
        np.testing.assert_array_equal(values.astype(np.float32), expected[name].numpy())


def test_digest_is_of_the_file_and_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    true = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: opened.append(given) or true(*given))
    expected = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert [weights_digest(folder), weights_digest(folder)] == [expected] * 2
    assert len(opened) == 1
    with pytest.raises(AttnvizError, match=r"model\.safetensors"):
        weights_digest(folder / "nowhere")


def test_replaced_file_of_same_size_and_time_is_noticed(folder: Path) -> None:
    path = folder / "model.safetensors"
    before, time = path.read_bytes(), path.stat().st_mtime_ns
    digest, was = weights_digest(folder), stamp(folder, "model.safetensors", "config.json")
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    os.utime(path, ns=(time, time))
    assert weights_digest(folder) != digest
    now = stamp(folder, "model.safetensors", "config.json")
    assert (now[0] != was[0], now[1] == was[1]) == (True, True)
    assert stamp(folder, "nowhere") == ((),)


def test_architecture_is_read_from_current_config(folder: Path) -> None:
    assert model_folder.architecture(folder) == "rnnsearch"
    path = folder / "config.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"model": TransformerConfig(30, 8, 2, 1, 6).to_dict()}))
    assert model_folder.architecture(folder) == "transformer"
    for unreadable in ("{", "[]", ""):
        path.write_text(unreadable)
        assert model_folder.architecture(folder) == "rnnsearch"
    assert model_folder.architecture(folder / "nowhere") == "rnnsearch"


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_network_is_loaded_as_saved(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str
) -> None:
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
