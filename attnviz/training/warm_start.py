"""Initialise a new network with the weights of a finished model, with the same or another tokenizer.

A piece that the old tokenizer lacks starts as the mean of the old pieces that spell it (vocabulary transfer), in the
embeddings and in the output layer.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from pathlib import Path

import torch
from torch import Tensor

from attnviz.checkpoint import load_model
from attnviz.errors import AttnvizError
from attnviz.network import ModelConfig, Seq2Seq, Trainable, build
from attnviz.text import EOS, SPACE, UNK, Tokenizer

_ROWS = (
    "encoder.embedding.weight",
    "decoder.embedding.weight",
    "decoder.output.weight",
    "decoder.output.bias",
    "output.weight",
    "output.bias",
)
"""Parameters with one row for each piece: four of RNNsearch, two of a transformer."""


@torch.no_grad()
def start_from(folder: str | Path, tokenizer: Tokenizer, dropout: float, guidance: float = 0.0) -> Trainable:
    """Return a network with the weights, sizes and attention of the model in `folder`, for the pieces of `tokenizer`.

    With `guidance` 0 the config keeps the value of the old model. Raise AttnvizError where the folder holds no model
    that can be read, or an imported one.
    """
    old, old_tokenizer = load_model(folder)
    if isinstance(old, Seq2Seq):
        raise AttnvizError(f"The model {folder} was imported, and attnviz cannot continue its training.")
    weights = old.state_dict()
    if tokenizer.model != old_tokenizer.model:
        shares = _shares(tokenizer, old_tokenizer)
        for name in weights.keys() & {*_ROWS}:
            rows = weights[name]
            weights[name] = (shares @ rows.view(len(rows), -1)).view(-1, *rows.shape[1:])
    config = dataclasses.replace(old.config, vocabulary_size=len(tokenizer), dropout=dropout)
    if isinstance(config, ModelConfig) and guidance:
        config = dataclasses.replace(config, guidance=guidance)
    network = build(config)
    network.load_state_dict(weights)
    return network


_LIGATURES = str.maketrans({"Œ": "Oe", "œ": "oe", "Æ": "Ae", "æ": "ae"})
"""Letters that Unicode does not decompose."""


def _shares(tokenizer: Tokenizer, old: Tokenizer) -> Tensor:
    """Return a sparse matrix (K, old K) whose row k is uniform over the old pieces that spell new piece k."""
    known = {old.piece(index): index for index in range(len(old))}
    rows, columns, values = [], [], []
    for index in range(len(tokenizer)):
        piece = tokenizer.piece(index)
        parts = [index] if index <= EOS else [known[piece]] if piece in known else _spelling(piece, old)
        rows += [index] * len(parts)
        columns += parts
        values += [1 / len(parts)] * len(parts)
    return torch.sparse_coo_tensor(
        torch.tensor([rows, columns]), torch.tensor(values), (len(tokenizer), len(old)), check_invariants=False
    ).coalesce()


def _spelling(piece: str, old: Tokenizer) -> list[int]:
    """Return the old pieces that spell `piece`; inside a word, without the leading space that encoding adds."""
    ids = old.encode(piece.replace(SPACE, " "))
    if not piece.startswith(SPACE) and ids and old.piece(ids[0]) == SPACE:
        ids = ids[1:]
    if UNK in ids:  # a character unknown to the old tokenizer, such as Ç: its base letter, C, is closer than <unk>
        plain = unicodedata.normalize("NFKD", piece.translate(_LIGATURES))
        base = "".join(character for character in plain if not unicodedata.combining(character))
        if base != piece:
            return _spelling(base, old)
    return ids or [UNK]
