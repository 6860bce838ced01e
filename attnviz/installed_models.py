"""Find the installed models: in the working directory, in the user's folder, and those that come with the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from platformdirs import user_data_path

from attnviz.bounds import TRANSLATORS
from attnviz.environment import ATTNVIZ_MODELS
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.lru_cache import once_in_run
from attnviz.model_folder import (
    CONFIG_FILE,
    DETECTOR,
    TRAINED_MODEL,
    model_folders,
    read_weights,
    weights_digest,
)

FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL, TRANSFORMER_MODEL, LARGE_MODEL = SHIPPED_MODELS = (
    "small-fixed",
    "small-dot",
    "small-additive",
    "small-transformer",
    "en-fr",
)
"""Names of the shipped models: fixed context vector, general attention, additive attention, transformer, large one."""
_PACKAGE = Path(__file__).resolve().parent


def user_models() -> Path:
    """Return the folder of the models that `attnviz models` fetches."""
    return user_data_path("attnviz", appauthor=False) / "models"


def model_roots() -> list[Path]:
    """Return the folders that are searched for model folders, in order of precedence."""
    if chosen := os.environ.get(ATTNVIZ_MODELS):
        return [Path(chosen)]
    roots: list[Path] = []
    # A checkout has its models beside the package, and a wheel one model inside.
    for root in (Path("models"), user_models(), _PACKAGE.parent / "models", _PACKAGE / "models"):
        if root.is_dir() and not any(root.samefile(other) for other in roots):
            roots.append(root)
    return roots or [Path("models")]


class InstalledModels(dict[str, Path]):
    """Folders of models by name, printed one a line."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {folder}" for name, folder in self.items())


def installed_models() -> InstalledModels:
    """Return the folders of the installed translation models, by name, the default model first.

    A name may come from an uploaded trace or lesson: looked up here, it never leads out of the searched folders.
    """
    return _installed(TRANSLATORS)


def missing_models(*names: str) -> str:
    """Return which of these models are not installed, as a sentence; empty where all are."""
    absent = [name for name in names if name not in installed_models()]
    if not absent:
        return ""
    return gettext(
        "This needs the models {names}. Models not installed: {absent}. attnviz supplies the missing "
        "models in its folder “models”: copy or symlink them into the folder of your own models.",
        names=", ".join(names),
        absent=", ".join(absent),
    )


def check_installed(*names: str) -> None:
    """Raise AttnvizError where one of these models is not installed."""
    if reason := missing_models(*names):
        raise AttnvizError(reason)


def find_model(model: str | Path | None = None) -> Path:
    """Return the folder of a model, given its path or the name of an installed one; by default the first installed.

    Raise AttnvizError, naming the installed models, where there is no such model.
    """
    translators = installed_models()
    installed = translators | installed_detectors()
    if model is None and translators:
        return next(iter(translators.values()))
    if isinstance(model, str | os.PathLike):
        folder, named = Path(model), installed.get(str(model))
        if named and not (folder / CONFIG_FILE).is_file():
            return named
        if folder.is_dir():
            trained = folder / TRAINED_MODEL
            if (trained / CONFIG_FILE).is_file() and not (folder / CONFIG_FILE).is_file():
                raise user_error(
                    "{folder} is the folder of a training. Its model is {model}.", folder=folder, model=trained
                )
            if not (folder / CONFIG_FILE).is_file():
                raise user_error(
                    "The folder {folder} is no model: it has no file {file}. attnviz import converts the checkpoints "
                    "of other programs.",
                    folder=folder,
                    file=CONFIG_FILE,
                )
            return folder
    if not translators:
        raise user_error("No model is installed. Fetch one with: attnviz models {model}", model=LARGE_MODEL)
    raise user_error(
        "There is no model {model}. Give the path of a model folder, or the name of an installed model: {names}.",
        model=model,
        names=", ".join(installed),
    )


def load_weights(model: str | Path) -> dict[str, NDArray[Any]]:
    """Load the weights of a model, without torch.

    Args:
        model: The name of an installed model (`attnviz.models`), or the path of a model folder.

    Returns:
        float16 or float32 arrays by parameter name.

    Raises:
        AttnvizError: There is no such model, or its weights are missing or damaged; the message names the file.
    """
    return read_weights(find_model(model))


def installed_weights(model: str, digest: str) -> Mapping[str, NDArray[Any]]:
    """Return the weights of the installed model with this `weights_digest`.

    Raise AttnvizError, naming the `model`, where it is not installed.
    """
    for folder in installed_models().values():
        if weights_digest(folder) == digest:
            return _loaded_weights(folder, digest)
    raise user_error(
        "The model “{model}” that made this translation is not installed. Give its weights: "
        "weights=attnviz.analysis.load_weights(model).",
        model=model,
    )


@lru_cache(maxsize=1)
def _loaded_weights(folder: Path, _digest: str) -> Mapping[str, NDArray[Any]]:
    return read_weights(folder)


def installed_detectors() -> InstalledModels:
    """Return the folders of the installed translation detectors, by name."""
    return _installed((DETECTOR,))


@once_in_run
def _installed(architectures: tuple[str, ...]) -> InstalledModels:
    folders = {one.name: one for root in reversed(model_roots()) for one in model_folders(root, architectures)}
    names = sorted(folders, key=lambda name: (name != LARGE_MODEL, name))
    return InstalledModels({name: folders[name] for name in names})
