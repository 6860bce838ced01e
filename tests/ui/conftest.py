"""Fixtures of the page tests: a small random model, and functions that open a page at the level *Everything*."""

import functools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from attnviz import translator
from attnviz.checkpoint import save_model
from attnviz.decoding.search import longest_target
from attnviz.installed_models import ADDITIVE_MODEL, FIXED_CONTEXT_MODEL, GENERAL_MODEL, LARGE_MODEL, TRANSFORMER_MODEL
from attnviz.network import TransformerConfig
from attnviz.ui import inputs
from tests.conftest import REPOSITORY
from tests.transformers import random_transformer
from tests.ui.opening import open_page


@pytest.fixture(autouse=True, scope="session")
def _scan_components_once() -> Iterator[None]:
    """Scan packages for components once: AppTest (Streamlit 1.67) does so at each run, which takes 90 % of its time."""
    with pytest.MonkeyPatch.context() as patch:
        once = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(autouse=True)
def _short_translations(request, monkeypatch) -> None:
    """Let random models write 12 pieces: they never end a sentence, and each step has its figures and texts."""
    if "shipped_model" not in request.fixturenames:
        monkeypatch.setattr(translator, "longest_target", lambda length: min(12, longest_target(length)))


@pytest.fixture
def models_folder(tmp_path, model_folder, monkeypatch) -> Path:
    """Return the folder where the page looks for models: a tiny random one, `en-fr`, which a test may change."""
    shutil.copytree(model_folder, tmp_path / "en-fr")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def en_fr(models_folder) -> Path:
    return models_folder / "en-fr"


@pytest.fixture
def three_models(models_folder, make_network, tokenizer) -> Path:
    """Return the folder of `en-fr`, of another model with attention, and of one without."""
    save_model(models_folder / "dotted", make_network("general"), tokenizer)
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    return models_folder


@pytest.fixture(scope="session")
def _random_models(tmp_path_factory, make_network, tokenizer) -> Path:
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(REPOSITORY / "models" / "by-length.csv", folder)
    save_model(folder / LARGE_MODEL, make_network(hidden_size=9), tokenizer)
    for name, kind in ((FIXED_CONTEXT_MODEL, "none"), (GENERAL_MODEL, "general"), (ADDITIVE_MODEL, "additive")):
        save_model(folder / name, make_network(kind), tokenizer)
    transformer = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    save_model(folder / TRANSFORMER_MODEL, transformer, tokenizer)
    return folder


@pytest.fixture
def folder(_random_models, tmp_path, monkeypatch) -> Path:
    """Return the folder of random models with the names of the shipped ones, which a test may change."""
    shutil.copytree(_random_models, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def page(models_folder):
    return open_page


@pytest.fixture(autouse=True)
def _show_everything(monkeypatch) -> None:
    monkeypatch.setattr(inputs, "DEFAULT_LEVEL", "everything")
