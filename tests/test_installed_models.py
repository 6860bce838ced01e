"""The folders that are searched for models, and which of two models of one name is used."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attnviz import installed_models as module
from attnviz.environment import ATTNVIZ_MODELS
from attnviz.installed_models import (
    default_model,
    installed_detectors,
    installed_model,
    installed_models,
    model_roots,
    user_models,
)
from tests.conftest import REPOSITORY


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a model of the user, beside an installed package that holds one model."""
    monkeypatch.delenv(ATTNVIZ_MODELS, raising=False)
    monkeypatch.setattr(module, "user_models", lambda: tmp_path / "of the user")
    monkeypatch.setattr(module, "_PACKAGE", tmp_path / "site-packages" / "attnviz")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def test_chosen_folder_is_the_only_one(elsewhere: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(model_folder, elsewhere / "work" / "models" / "near")
    shutil.copytree(model_folder, elsewhere / "chosen" / "far")
    assert [*installed_models()] == ["near"]
    monkeypatch.setenv(ATTNVIZ_MODELS, str(elsewhere / "chosen"))
    assert installed_models() == {"far": elsewhere / "chosen" / "far"}
    assert (installed_model("near"), installed_model("far")) == (None, elsewhere / "chosen" / "far")


def test_nearer_models_take_precedence(elsewhere: Path, model_folder: Path) -> None:
    packaged = elsewhere / "site-packages" / "attnviz" / "models"
    shutil.copytree(model_folder, packaged / "small-additive")
    assert default_model() == packaged / "small-additive"
    shutil.copytree(model_folder, elsewhere / "of the user" / "en-fr")
    assert installed_models() == {
        "en-fr": elsewhere / "of the user" / "en-fr",
        "small-additive": packaged / "small-additive",
    }
    assert default_model() == installed_model("en-fr") == elsewhere / "of the user" / "en-fr"
    shutil.copytree(model_folder, elsewhere / "work" / "models" / "en-fr")
    assert default_model() == installed_model("en-fr") == Path("models") / "en-fr"


def test_without_any_model_the_default_is_named(elsewhere: Path) -> None:
    assert (installed_models(), installed_detectors()) == ({}, {})
    assert default_model() == Path("models") / "en-fr"


def test_checkout_has_its_models_and_its_detector_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ATTNVIZ_MODELS, raising=False)
    monkeypatch.chdir(tmp_path)
    assert REPOSITORY / "models" in model_roots()
    assert installed_detectors()["detector"].is_dir()
    assert user_models().name == "models"


@pytest.mark.parametrize("name", ["", ".", "..", "../far", "inner/..", "/", "absent", "x\0"])
def test_name_cannot_leave_the_searched_folders(
    elsewhere: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(model_folder, elsewhere / "chosen")
    shutil.copytree(model_folder, elsewhere / "far")
    (elsewhere / "chosen" / "inner").mkdir()
    monkeypatch.setenv(ATTNVIZ_MODELS, str(elsewhere / "chosen" / "inner"))
    assert installed_model(name) is None
