"""Names of the special tokens in other programs, and how to add those that a vocabulary lacks."""

from __future__ import annotations

import dataclasses

import numpy as np

from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.structure import check_size

STARTS = ("<sos>", "<s>", "<bos>", "<SOS>", "SOS")
STOPS, UNKNOWN = ("<eos>", "</s>", "<EOS>", "EOS"), ("<unk>", "<UNK>", "UNK")
PADDING = ("<pad>", "<PAD>", "<blank>", "PAD")
SPECIAL = (PADDING, UNKNOWN, STARTS, STOPS)
"""Names of PAD, UNK, BOS and EOS, in the order of their ids here."""
_NEVER = 100.0
"""How far the logit of a token that the program lacks lies below the smallest bias: its probability is negligible."""


def with_special(
    weights: dict[str, Array], source: Vocabulary, target: Vocabulary
) -> tuple[dict[str, Array], Vocabulary, Vocabulary]:
    """Return weights and vocabularies with the special tokens that the program lacks.

    They get embeddings of zeros, as last rows of the embeddings (K, m) and of the output, and are never written.
    Raise AttnvizError where a vocabulary and its embedding matrix differ in size.
    """
    weights = dict(weights)
    grown = {"encoder": _grown(source), "decoder": _grown(target)}
    for side, vocabulary in (("encoder", source), ("decoder", target)):
        embeddings = weights[f"{side}.embedding.weight"]
        check_size(vocabulary, len(embeddings))
        weights[f"{side}.embedding.weight"] = _with_rows(embeddings, len(grown[side].tokens))
    words, bias = len(grown["decoder"].tokens), weights["decoder.output.bias"]
    weights["decoder.output.weight"] = _with_rows(weights["decoder.output.weight"], words)
    weights["decoder.output.bias"] = np.append(bias, np.full(words - len(bias), bias.min() - _NEVER))
    return weights, grown["encoder"], grown["decoder"]


def _grown(vocabulary: Vocabulary) -> Vocabulary:
    """Return the vocabulary with the special tokens that it lacks at its end."""
    missing = [names[0] for names in SPECIAL if not any(token in vocabulary.ids for token in names)]
    tokens = (*vocabulary.tokens, *missing)
    ids = dict(vocabulary.ids) | {token: len(vocabulary.tokens) + place for place, token in enumerate(missing)}
    return dataclasses.replace(vocabulary, tokens=tokens, ids=ids)


def _with_rows(matrix: Array, count: int) -> Array:
    """Return a matrix of `count` rows, the last of them zeros."""
    return np.vstack([matrix, np.zeros((count - len(matrix), matrix.shape[1]))])
