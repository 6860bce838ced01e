"""The files of a model folder, as far as they can be read without torch: their names, the settings in `config.json`,
the arrays in `model.safetensors`, and the digest that tells one model from another."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz import bounds
from attnviz.attention_kinds import renamed
from attnviz.errors import AttnvizError
from attnviz.languages import gettext

FORMAT = "attnviz-model"
VERSION = 2
"""Version 1 called the attention "general" by the name "dot"."""
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"
VOCABULARIES = "vocabularies.json"
"""Of an imported translator, in the place of the tokenizer."""
FILES = (CONFIG, WEIGHTS, TOKENIZER)
"""Of a model that was trained here."""
EVERY_FILE = (*FILES, VOCABULARIES)

IMPORTED = "seq2seq"
"""The architecture of a translator that was trained elsewhere."""
DETECTOR = "decomposable"
"""The architecture of a model that translates nothing."""


def model_folders(root: str | Path = "models") -> list[Path]:
    """Return the folders of translators inside `root`, by name; that of a detector of translations is none."""
    found = sorted(path.parent for path in Path(root).glob(f"*/{CONFIG}"))
    return [folder for folder in found if architecture(folder) in bounds.TRANSLATORS]


def detector_folders(root: str | Path = "models") -> list[Path]:
    """Return the folders of detectors of translations inside `root`, by name."""
    found = sorted(path.parent for path in Path(root).glob(f"*/{CONFIG}"))
    return [folder for folder in found if architecture(folder) == DETECTOR]


def stamp(folder: str | Path, *names: str) -> tuple[tuple[int, ...], ...]:
    """Return what changes when one of the named files in `folder` is replaced or written anew, without reading them:
    time of writing and of any change (ns), size in bytes and inode of each, or nothing where it is missing."""
    return tuple(_stamp(Path(folder) / name) for name in names)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    # Models of one config are equally large, and a copy may keep its time of writing: these two alone would not do.
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def weights_digest(folder: str | Path) -> str:
    """Return the SHA-256 of the weights file in hexadecimal, computed once for each state of the file.

    Raise AttnvizError, naming the file, where it cannot be read.
    """
    path = Path(folder).resolve() / WEIGHTS
    return _digest(path, _stamp(path))


@functools.lru_cache(maxsize=64)
def _digest(path: Path, _: tuple[int, ...]) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AttnvizError(_unreadable(path, error)) from error


def load_weights(folder: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in `folder`/model.safetensors by the names of the network's parameters, float16 or float32 as
    they are stored; raise AttnvizError, naming the file, where it is missing or damaged or holds other numbers."""
    # Not above: figures know what weights are, and are drawn where nothing can read a model.
    import safetensors.numpy

    path = Path(folder) / WEIGHTS
    try:
        weights = safetensors.numpy.load_file(path)
        odd = [name for name, values in weights.items() if values.dtype.kind != "f"]
        if odd:
            raise ValueError(f"{odd[0]} holds no floating-point numbers")
    except FileNotFoundError as error:
        raise AttnvizError(gettext("The model's {path} is missing. Restore the file.", path=path)) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, safetensors.SafetensorError) as error:
        message = gettext(
            "The model's {path} is damaged or cut short ({error}). Restore the file.", path=path, error=str(error)[:300]
        )
        raise AttnvizError(message) from error
    return weights


def count_parameters(folder: str | Path) -> int:
    """Return how many numbers `folder`/model.safetensors holds, as its head says; raise AttnvizError, naming the file,
    where it cannot be read."""
    path = Path(folder) / WEIGHTS
    try:
        with path.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return sum(math.prod(entry["shape"]) for name, entry in head.items() if name != "__metadata__")
    except OSError as error:
        raise AttnvizError(_unreadable(path, error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise AttnvizError(damaged(path, error)) from error


def read_config(folder: str | Path) -> dict[str, Any]:
    """Return the settings of the model in `folder`, each number within its bounds (`bounds`).

    Raise AttnvizError, naming the file, where it is missing, damaged or of another version.
    """
    path = Path(folder) / CONFIG
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise ValueError("it is not marked as one of this program's")
        version = record["version"]
        if type(version) is not int or not 1 <= version <= VERSION:
            raise AttnvizError(
                gettext(
                    "{path} has format version {found}; this program reads up to version {known}. Update it.",
                    path=path,
                    found=bounds.shown(version),
                    known=VERSION,
                )
            )
        settings = record["model"]
        bounds.check_model(settings)
        settings = renamed(settings) if version == 1 else dict(settings)
    except OSError as error:
        raise AttnvizError(_unreadable(path, error)) from error
    except KeyError as error:
        message = gettext("The model's {path} is damaged: {name} is missing. Restore the file.", path=path, name=error)
        raise AttnvizError(message) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise AttnvizError(damaged(path, error)) from error
    return settings


def architecture(folder: str | Path) -> str:
    """Return the architecture that the model in `folder` is of, read once for each state of its config: "rnnsearch"
    where it names none, or cannot be read."""
    path = Path(folder).resolve() / CONFIG
    return _architecture(path, _stamp(path))


@functools.lru_cache(maxsize=64)
def _architecture(path: Path, _: tuple[int, ...]) -> str:
    try:
        return str(read_config(path.parent).get("architecture", "rnnsearch"))
    except AttnvizError:
        return "rnnsearch"


def check_finite(folder: str | Path, weights: dict[str, NDArray[Any]]) -> None:
    """Raise AttnvizError, naming the file and the array, where `weights`, arrays of any shapes which are from it, are
    not all finite."""
    for name, values in weights.items():
        if not np.isfinite(values).all():
            raise AttnvizError(
                gettext(
                    "The model's {path} is damaged: {name} holds numbers that are not finite.",
                    path=Path(folder) / WEIGHTS,
                    name=name,
                )
            )


def damaged(path: Path, why: object) -> str:
    """Return the sentence that says `path` is damaged."""
    return gettext("The model's {path} is damaged: {error}. Restore the file.", path=path, error=why)


def _unreadable(path: Path, error: OSError) -> str:
    return gettext("The model's {path} cannot be read: {error}.", path=path, error=error.strerror)
