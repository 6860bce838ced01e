"""Detect the program that trained a checkpoint, load the checkpoint, and write it as a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from attnviz.errors import AttnvizError, user_error
from attnviz.importing.bentrevett import BENTREVETT
from attnviz.importing.checkpoint_folder import Stored, read_checkpoint
from attnviz.importing.d2l import D2L
from attnviz.importing.fairseq import FAIRSEQ
from attnviz.importing.joey import JOEY
from attnviz.importing.opennmt import OPENNMT
from attnviz.importing.program import Checkpoint, Program
from attnviz.importing.pytorch_tutorial import PYTORCH_TUTORIAL, PYTORCH_TUTORIAL_2017
from attnviz.importing.unsupported import known_message

_PROGRAMS: tuple[Program, ...] = (BENTREVETT, PYTORCH_TUTORIAL, PYTORCH_TUTORIAL_2017, JOEY, D2L, FAIRSEQ, OPENNMT)
"""What no tensor identifies is read by the one with the most tensors of these names, to say how it differs."""


def load_checkpoint(
    path: str | Path, padded_length: int | None = None, *, rename: Mapping[str, str] | None = None
) -> Checkpoint:
    """Load a checkpoint with its vocabularies, and what else its program writes beside it.

    `path` is the folder, or one of several checkpoints in it. The module of each program says which files it reads.
    `rename` maps the beginnings of its tensors' names to those of the program, such as {"dec.": "decoder."}.
    `padded_length` is the length to which the program pads source sentences, where the encoder reads this padding.
    Raise AttnvizError where a file is missing or damaged, or the model has another structure.
    """
    path = Path(path)
    if not path.exists():
        raise user_error(
            "There is no {path}. Give the folder that contains the checkpoint and its vocabularies, or the path of "
            "the checkpoint in this folder.",
            path=path,
        )
    return read_translator(renamed(read_checkpoint(path, padded_length), rename or {}))


def renamed(stored: Stored, names: Mapping[str, str]) -> Stored:
    """Return a checkpoint whose tensors' names begin with the new names; raise AttnvizError where none has the old."""
    tensors = dict(stored.tensors)
    for old, new in names.items():
        if not any(name.startswith(old) for name in tensors):
            raise user_error("The checkpoint has no tensor whose name begins with “{name}”.", name=old)
        tensors = {new + name.removeprefix(old) if name.startswith(old) else name: a for name, a in tensors.items()}
    return replace(stored, tensors=tensors)


def read_translator(stored: Stored) -> Checkpoint:
    """Return the translator in a checkpoint that was read; raise AttnvizError as `load_checkpoint`."""
    if message := known_message(stored.tensors):
        raise AttnvizError(message)
    found = (program for program in _PROGRAMS if program.identifying_tensor in stored.tensors)
    nearest = max(_PROGRAMS, key=lambda program: len(program.known.keys() & stored.tensors.keys()))
    return next(found, nearest).read(stored)


def write_checkpoint(checkpoint: Checkpoint, folder: str | Path, *, half: bool = False) -> None:
    """Write `checkpoint` to `folder`, with weights in float32 or, if `half`, float16; create the folder where needed.

    Each file is replaced atomically, and the config, without which a folder is no model, is written last. Raise
    AttnvizError where the vocabularies cannot be used, a weight is too large for float16, or a file cannot be written.
    """
    import torch

    from attnviz.checkpoint import save_model
    from attnviz.network import Seq2SeqConfig, build_network
    from attnviz.vocabulary import WordTokenizer, serialised

    settings = checkpoint.settings
    if half and (
        large := [name for name, array in checkpoint.weights.items() if np.abs(array).max() > np.finfo(np.float16).max]
    ):
        raise user_error("{name} holds numbers that are too large for float16: leave out --half.", name=large[0])
    # Number of pieces up to which a source sentence is filled with padding, which attention reaches.
    filled = settings["source_length"] if settings["attends_padding"] else 0
    try:
        tokenizer = WordTokenizer(
            serialised(
                checkpoint.source,
                checkpoint.target,
                opened=checkpoint.opened,
                closed=checkpoint.closed,
                filled=filled,
            )
        )
        config = Seq2SeqConfig(**settings)
    except ValueError as error:
        raise user_error("The vocabularies cannot be used: {error}.", error=error) from error
    with torch.device("meta"):
        network = build_network(config)
    weights = {
        name: torch.from_numpy(np.ascontiguousarray(array, np.float32)) for name, array in checkpoint.weights.items()
    }
    network.load_state_dict(weights, assign=True)
    save_model(folder, network, tokenizer, torch.float16 if half else torch.float32)
