"""Model folders: which are found, which of two models of one name is used, and reading and saving without torch."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz import AttnvizError, Translator, analysis, model_folder
from attnviz import installed_models as module
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import load_model, save_model
from attnviz.environment import ATTNVIZ_MODELS
from attnviz.installed_models import find_model, installed_detectors, installed_models, model_roots, user_models
from attnviz.lru_cache import stamp
from attnviz.model_folder import weights_digest
from attnviz.network import TransformerConfig
from tests.conftest import REPOSITORY
from tests.snapshots import refusal


@pytest.fixture
def elsewhere(tmp_path, monkeypatch) -> Path:
    """Work in an empty folder, without a model of the user, beside an installed package that holds one model."""
    monkeypatch.delenv(ATTNVIZ_MODELS, raising=False)
    monkeypatch.setattr(module, "user_models", lambda: tmp_path / "of the user")
    monkeypatch.setattr(module, "_PACKAGE", tmp_path / "site-packages" / "attnviz")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def test_chosen_folder_is_the_only_one(elsewhere, model_folder, monkeypatch) -> None:
    shutil.copytree(model_folder, elsewhere / "work" / "models" / "near")
    shutil.copytree(model_folder, elsewhere / "chosen" / "far")
    assert [*installed_models()] == ["near"]
    monkeypatch.setenv(ATTNVIZ_MODELS, str(elsewhere / "chosen"))
    assert installed_models() == {"far": elsewhere / "chosen" / "far"}
    assert find_model("far") == elsewhere / "chosen" / "far"


def test_nearer_models_take_precedence(elsewhere, model_folder) -> None:
    packaged = elsewhere / "site-packages" / "attnviz" / "models"
    shutil.copytree(model_folder, packaged / "small-additive")
    assert find_model() == packaged / "small-additive"
    shutil.copytree(model_folder, elsewhere / "of the user" / "en-fr")
    own = elsewhere / "of the user" / "en-fr"
    assert installed_models() == {"en-fr": own, "small-additive": packaged / "small-additive"}
    assert find_model() == find_model("en-fr") == own
    shutil.copytree(model_folder, elsewhere / "work" / "models" / "en-fr")
    assert find_model() == find_model("en-fr") == Path("models") / "en-fr"


def test_model_is_found_by_name_or_path(elsewhere, model_folder, snapshot) -> None:
    assert (installed_models(), installed_detectors()) == ({}, {})
    nothing = refusal(find_model)
    packaged = elsewhere / "site-packages" / "attnviz" / "models"
    translators = {packaged / "en-fr", packaged / "small-additive", Path("own")}
    for path in translators:
        shutil.copytree(model_folder, path)
    shutil.copytree(REPOSITORY / "models" / "detector", packaged / "detector")
    assert find_model() == packaged / "en-fr"
    for name in ("en-fr", "small-additive", "detector"):
        assert find_model(name) == packaged / name
    assert find_model(packaged / "en-fr") == packaged / "en-fr"
    assert find_model("own") == Path("own")
    Path("small-additive").mkdir()  # it holds no model
    assert find_model("small-additive") == packaged / "small-additive"
    assert {"nothing installed": nothing, "unknown name": refusal(lambda: find_model("en-de"))} == snapshot
    shutil.copytree(model_folder, Path("runs", "es", "model"))
    assert refusal(lambda: find_model("runs/es")) == snapshot(name="training")
    assert analysis.load_weights("en-fr").keys() == analysis.load_weights(Path("own")).keys()
    with pytest.raises(AttnvizError, match=r"en-de"):
        analysis.load_weights("en-de")
    Path("hub").mkdir()
    Path("hub", "config.json").write_text('{"model_type": "marian"}', encoding="utf-8")
    assert refusal(lambda: Translator.load("hub")) == snapshot(name="Hugging Face")
    shutil.copytree(model_folder, Path("en-fr"))  # a folder goes before a name
    assert find_model("en-fr") == Path("en-fr")


def test_checkout_has_its_models_and_its_detector_from_any_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv(ATTNVIZ_MODELS, raising=False)
    monkeypatch.chdir(tmp_path)
    assert REPOSITORY / "models" in model_roots()
    assert installed_detectors()["detector"].is_dir()
    assert user_models().name == "models"


@pytest.fixture
def folder(model_folder, tmp_path) -> Path:
    return shutil.copytree(model_folder, tmp_path / "model")


def test_arrays_digest_and_architecture_are_those_of_the_current_files(folder, translator, monkeypatch) -> None:
    weights = analysis.load_weights(folder)
    expected = translator.network.state_dict()
    assert weights.keys() == expected.keys()
    for name, values in weights.items():
        assert values.dtype == np.float16
        np.testing.assert_array_equal(values.astype(np.float32), expected[name].numpy())
    opened = []
    true = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: opened.append(given) or true(*given))
    expected = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert [weights_digest(folder), weights_digest(folder)] == [expected] * 2
    assert len(opened) == 1
    with pytest.raises(AttnvizError, match=r"model\.safetensors"):
        weights_digest(folder / "nowhere")
    path = folder / "model.safetensors"
    before, time = path.read_bytes(), path.stat().st_mtime_ns
    digest, was = weights_digest(folder), stamp(folder, "model.safetensors", "config.json")
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    os.utime(path, ns=(time, time))
    assert weights_digest(folder) != digest
    now = stamp(folder, "model.safetensors", "config.json")
    assert (now[0] != was[0], now[1] == was[1]) == (True, True)
    assert stamp(folder, "nowhere") == ((),)
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
def test_network_is_loaded_as_saved(tmp_path, make_network, tokenizer, attention) -> None:
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


def test_interrupted_save_leaves_old_model(tmp_path, make_network, tokenizer, monkeypatch) -> None:
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
