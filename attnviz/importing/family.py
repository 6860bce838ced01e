"""Detect the program that trained a checkpoint, load the checkpoint, and write it as a model folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing import bentrevett, d2l, fairseq, joey, opennmt, pytorch_tutorial, pytorch_tutorial_2017
from attnviz.importing.checkpoint import Array, Vocabulary, read_checkpoint
from attnviz.importing.recurrent_run import SPECIAL, Checkpoint, other_structure
from attnviz.importing.unsupported import known_message
from attnviz.languages import gettext
from attnviz.text import SPECIAL_PIECES

_READERS = (pytorch_tutorial, pytorch_tutorial_2017, joey, d2l, fairseq, opennmt)
"""Modules with the name `IDENTIFYING_TENSOR` of a tensor that identifies the program, and a function `load`."""


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
    reader = next((reader for reader in _READERS if reader.IDENTIFYING_TENSOR in stored.tensors), bentrevett)
    checkpoint: Checkpoint = reader.load(stored)
    return dataclasses.replace(checkpoint, remarks=(*stored.remarks, *checkpoint.remarks))


def write_checkpoint(checkpoint: Checkpoint, folder: str | Path, *, half: bool = False) -> None:
    """Write `checkpoint` to `folder`, with weights in float32 or, if `half`, float16; create the folder where needed.

    Rows of embeddings and output layer are reordered so that the four special tokens come first. Each file is replaced
    atomically, and the config, without which a folder is no model, is written last. Raise AttnvizError where the
    settings or vocabularies are unsupported, a weight is too large for float16, or a file cannot be written.
    """
    import torch

    from attnviz.checkpoint import save_model
    from attnviz.network import Seq2SeqConfig, build
    from attnviz.vocabulary import WordTokenizer, serialised

    try:
        config = Seq2SeqConfig(**checkpoint.settings)
    except ValueError as error:
        raise other_structure(str(error)) from error
    orders = {"encoder": _order(checkpoint.source), "decoder": _order(checkpoint.target)}
    weights, kind = _ordered(checkpoint.weights, orders), np.float16 if half else np.float32
    if half and (large := [name for name, value in weights.items() if np.abs(value).max() > np.finfo(kind).max]):
        raise AttnvizError(
            gettext("{name} holds numbers that are too large for float16: leave out --half.", name=large[0])
        )
    tokens = [
        _named(vocabulary, order)
        for vocabulary, order in zip((checkpoint.source, checkpoint.target), orders.values(), strict=True)
    ]
    with torch.device("meta"):
        network = build(config)
    state = {name: torch.from_numpy(np.ascontiguousarray(weights[name], np.float32)) for name in network.state_dict()}
    network.load_state_dict(state, assign=True)
    try:
        sides = serialised(*tokens, opened=checkpoint.opened, closed=checkpoint.closed, filled=checkpoint.filled)
        tokenizer = WordTokenizer(sides)
    except ValueError as error:
        raise AttnvizError(gettext("The vocabularies cannot be used: {error}.", error=error)) from error
    save_model(folder, network, tokenizer, torch.float16 if half else torch.float32)


def _order(vocabulary: Vocabulary) -> list[int]:
    """Return the vocabulary's ids in the new order: PAD, UNK, BOS and EOS, then the others unchanged."""
    first = [vocabulary.special(*names) for names in SPECIAL]
    return [*first, *(index for index in range(len(vocabulary.tokens)) if index not in first)]


def _named(vocabulary: Vocabulary, order: Sequence[int]) -> list[str]:
    """Return the tokens in `order`, the special ones under the names used here."""
    return [*SPECIAL_PIECES, *(vocabulary.tokens[index] for index in order[len(SPECIAL_PIECES) :])]


def _ordered(weights: Mapping[str, Array], orders: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Return the weights with one row per token reordered by `orders`, which is keyed by "encoder" and "decoder"."""
    rows = {
        "encoder.embedding.weight": "encoder",
        "decoder.embedding.weight": "decoder",
        "decoder.output.weight": "decoder",
        "decoder.output.bias": "decoder",
    }
    return {name: value[orders[rows[name]]] if name in rows else value for name, value in weights.items()}
