"""Detect the model family of a recurrent translation checkpoint and load it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from attnviz.errors import AttnvizError
from attnviz.importing import joey, pytorch_tutorial
from attnviz.importing.checkpoint import read_tensors, read_vocabulary
from attnviz.importing.recurrent_run import Checkpoint
from attnviz.importing.tutorial import tutorial_model
from attnviz.importing.unsupported import known_message
from attnviz.languages import gettext


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Load a checkpoint, and from its folder the vocabularies and, for Joey NMT, the config.yaml.

    `path` is the folder, or one of several checkpoints in it. The vocabularies are files that `read_vocabulary` reads,
    such as source.txt and target.txt. Raise AttnvizError where a file is missing or damaged, or the model has another
    structure.
    """
    path = Path(path)
    if not path.exists():
        raise AttnvizError(
            gettext(
                "There is no {path}. Give the folder that contains the checkpoint and its vocabularies, or the path of "
                "the checkpoint in this folder.",
                path=path,
            )
        )
    tensors, folder = read_tensors(path), path if path.is_dir() else path.parent
    if message := known_message(tensors):
        raise AttnvizError(message)
    source, target = read_vocabulary(folder, "source"), read_vocabulary(folder, "target")
    name = folder.resolve().name
    if pytorch_tutorial.MARK in tensors:
        return pytorch_tutorial.pytorch_model(tensors, source, target, name)
    if joey.MARK not in tensors:
        return tutorial_model(tensors, source, target, name)
    return joey.joey_model(tensors, _settings(folder / "config.yaml"), source, target, name)


def _settings(path: Path) -> Mapping[str, Any]:
    """Return the `model` section of a Joey NMT configuration; raise AttnvizError where it cannot be read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        message = gettext(
            "{path} cannot be read ({kind}). This Joey NMT configuration must name the activation and the first "
            "decoder state, which the checkpoint does not contain.",
            path=path,
            kind=type(error).__name__,
        )
        raise AttnvizError(message) from error
    model = content.get("model") if isinstance(content, Mapping) else None
    sides = [model.get(side, {}) for side in ("encoder", "decoder")] if isinstance(model, Mapping) else [None]
    plain = all(isinstance(side, Mapping) and isinstance(side.get("embeddings") or {}, Mapping) for side in sides)
    if not isinstance(model, Mapping) or not plain:
        raise AttnvizError(gettext("{path} has no section “model” with an encoder and a decoder.", path=path))
    return model
