"""Detect the program that trained a recurrent translation checkpoint, and load the checkpoint."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from attnviz.errors import AttnvizError
from attnviz.importing import d2l, fairseq, joey, opennmt, pytorch_2017, pytorch_tutorial, tutorial
from attnviz.importing.checkpoint import read_checkpoint
from attnviz.importing.recurrent_run import Checkpoint
from attnviz.importing.unsupported import known_message
from attnviz.languages import gettext

_READERS = (pytorch_tutorial, pytorch_2017, joey, d2l, fairseq, opennmt)
"""Modules with the name `MARK` of a tensor that identifies the program, and a function `load`."""


def load_checkpoint(path: str | Path, padded_length: int | None = None) -> Checkpoint:
    """Load a checkpoint with its vocabularies, and what else its program writes beside it.

    `path` is the folder, or one of several checkpoints in it. The module of each program says which files it reads.
    `padded_length` is the length to which the program pads source sentences, where the encoder reads this padding.
    Raise AttnvizError where a file is missing or damaged, or the model has another structure.
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
    stored = read_checkpoint(path, padded_length)
    if message := known_message(stored.tensors):
        raise AttnvizError(message)
    reader = next((reader for reader in _READERS if reader.MARK in stored.tensors), tutorial)
    checkpoint: Checkpoint = reader.load(stored)
    return dataclasses.replace(checkpoint, remarks=(*stored.remarks, *checkpoint.remarks))
