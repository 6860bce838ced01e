"""Find the installed models: in the working directory, in the user's folder, and those that come with the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_data_path

from attnviz.errors import AttnvizError
from attnviz.model_folder import detector_folders, is_translator, model_folders

MODELS_VARIABLE = "ATTNVIZ_MODELS"
"""Environment variable of the only folder that is searched for model folders."""
_DEFAULT = "en-fr"
"""Name of the model that comes first."""
_PACKAGE = Path(__file__).resolve().parent


def user_models() -> Path:
    """Return the folder of the models that `attnviz models` fetches."""
    return user_data_path("attnviz", appauthor=False) / "models"


def model_roots() -> list[Path]:
    """Return the folders that are searched for model folders, in order of precedence."""
    if chosen := os.environ.get(MODELS_VARIABLE):
        return [Path(chosen)]
    roots: list[Path] = []
    # A checkout has its models beside the package, and a wheel one model inside.
    for root in (Path("models"), user_models(), _PACKAGE.parent / "models", _PACKAGE / "models"):
        if root.is_dir() and not any(root.samefile(other) for other in roots):
            roots.append(root)
    return roots or [Path("models")]


def installed_models() -> dict[str, Path]:
    """Return the folders of the installed translation models, by name, the default model first."""
    return _default_first({folder.name: folder for root in reversed(model_roots()) for folder in model_folders(root)})


def installed_model(name: str) -> Path | None:
    """Return the folder of the installed translation model of this name, or None.

    The name may be any text, since it comes from an uploaded trace: it never leads out of the searched folders.
    """
    for root in model_roots():
        folder = root / name
        if folder.parent == root and name != ".." and is_translator(folder):
            return folder
    return None


def installed_detectors() -> dict[str, Path]:
    """Return the folders of the installed translation detectors, by name."""
    return _default_first(
        {folder.name: folder for root in reversed(model_roots()) for folder in detector_folders(root)}
    )


def default_model() -> Path:
    """Return the folder of the default model; where no model is installed, the place where it would be."""
    return next(iter(installed_models().values()), model_roots()[0] / _DEFAULT)


def find_model(model: str | Path | None) -> Path:
    """Return the folder of a model, given its name, its path or, for the default model, None.

    Raise AttnvizError, which names the installed models, where there is no such folder.
    """
    folder = default_model() if model is None else installed_models().get(str(model), Path(model))
    if not os.path.isdir(folder):  # noqa: PTH112 - False, not an error, for a name that is too long
        installed = ", ".join(installed_models()) or "none"
        raise AttnvizError(
            f"There is no model {str(folder if model is None else model)[:200]}. Give the folder of a model or the "
            f"name of an installed one: {installed}."
        )
    return folder


def _default_first(folders: Mapping[str, Path]) -> dict[str, Path]:
    return {name: folders[name] for name in sorted(folders, key=lambda name: (name != _DEFAULT, name))}
