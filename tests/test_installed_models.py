"""The folders that are searched for models, and which of two models of one name is used."""

import shutil
from pathlib import Path

import pytest

from attnviz import AttnvizError, Translator, analysis
from attnviz import installed_models as module
from attnviz.environment import ATTNVIZ_MODELS
from attnviz.installed_models import find_model, installed_detectors, installed_models, model_roots, user_models
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
