"""Model folders, without torch: list translators and detectors; config, weights, parameter count, digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from attnviz import bounds
from attnviz.arguments import check_version, checked_path
from attnviz.errors import AttnvizError, user_error
from attnviz.files import file_errors
from attnviz.lru_cache import LRUCache, cached_in

MODEL_FORMAT = "attnviz-model"
MODEL_VERSION = 2
CONFIG_FILE, WEIGHTS_FILE, TOKENIZER_FILE = "config.json", "model.safetensors", "tokenizer.model"
VOCABULARIES = "vocabularies.json"
"""Vocabularies of an imported translator, in place of the tokenizer."""
TRAINED_MODEL = "model"
"""Folder of the model in the folder of its training."""
FILES = (CONFIG_FILE, WEIGHTS_FILE, TOKENIZER_FILE)
"""The files of a model trained by this program."""
EVERY_FILE = (*FILES, VOCABULARIES)
TRAINING_LOG = "training-log.csv"
"""Log of the training of a model; its run has it as `log.csv` while it is in progress."""

IMPORTED_ARCHITECTURE = "seq2seq"
"""Architecture of a translator trained by another program."""
DETECTOR = "decomposable"
"""Architecture of a model that detects translations and does not translate."""


def model_folders(root: str | Path = "models", architectures: Collection[str] = bounds.TRANSLATORS) -> list[Path]:
    """Return the folders in `root` of models of these architectures, by default translators, sorted by name."""
    folders = sorted(path.parent for path in Path(root).glob(f"*/{CONFIG_FILE}") if path.is_file())
    return [folder for folder in folders if architecture(folder) in architectures]


@cached_in(LRUCache(64, size=lambda _: 1), WEIGHTS_FILE)
def weights_digest(folder: str | Path) -> str:
    """Return the SHA-256 of the weights file in hexadecimal, cached until the file changes.

    Raise AttnvizError, naming the file, where it cannot be read.
    """
    path = Path(folder).resolve() / WEIGHTS_FILE
    with file_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_weights(folder: str | Path) -> dict[str, NDArray[Any]]:
    """Load the weights of a model folder, model.safetensors, without torch.

    Args:
        folder: The model folder.

    Returns:
        float16 or float32 arrays by parameter name.

    Raises:
        AttnvizError: The file is missing or damaged or holds other types; the message names it.
    """
    # Imported here: figures import this module where safetensors is not installed.
    import safetensors.numpy

    path = checked_path(folder) / WEIGHTS_FILE
    with file_errors(path, safetensors.SafetensorError):
        weights = safetensors.numpy.load_file(path.resolve(strict=True))
        if odd := [name for name, values in weights.items() if values.dtype.kind != "f"]:
            raise ValueError(f"{odd[0]} holds no floating-point numbers")
    return weights


def count_parameters(folder: str | Path) -> int:
    """Return the number of parameters in `folder`/model.safetensors, read from its header.

    Raise AttnvizError, naming the file, where it cannot be read.
    """
    path = Path(folder) / WEIGHTS_FILE
    with file_errors(path), path.open("rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return sum(math.prod(entry["shape"]) for name, entry in head.items() if name != "__metadata__")


def read_config(folder: str | Path) -> dict[str, Any]:
    """Return the settings of the model in `folder`, each number checked against `bounds`.

    Raise AttnvizError, naming the file, where it is missing, damaged or of another version.
    """
    path = Path(folder) / CONFIG_FILE
    with file_errors(path):
        fields = json.loads(path.read_text(encoding="utf-8"))
        if "format" not in fields and {"model_type", "architectures"} & {*fields}:
            raise user_error(
                "{folder} is a model of Hugging Face, which attnviz does not use as its own. Read its attention "
                "with attnviz attention {folder} --source-file FILE, or in Python with "
                "attnviz.from_huggingface.",
                folder=folder,
            )
        if fields["format"] != MODEL_FORMAT:
            raise ValueError("it is not marked as one of this program's")
        check_version(str(path), fields["version"], MODEL_VERSION)
        settings = dict(fields["model"])
        bounds.check_model(settings)
    return settings


@cached_in(LRUCache(64, size=lambda _: 1), CONFIG_FILE)
def architecture(folder: str | Path) -> str:
    """Return the architecture of the model in `folder`, cached until its config changes.

    "rnnsearch" where the config names none or cannot be read.
    """
    try:
        return str(read_config(folder).get("architecture", "rnnsearch"))
    except AttnvizError:
        return "rnnsearch"
