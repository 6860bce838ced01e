"""A checkpoint that was read, written as a model folder of this program, which all of it loads by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.recomputed import PADDING, STARTS, STOPS, UNKNOWN, Checkpoint, other_structure
from attnviz.languages import gettext
from attnviz.text import SPECIAL_PIECES

_SPECIAL = (PADDING, UNKNOWN, STARTS, STOPS)
"""What others call PAD, UNK, BOS and EOS, in the order of their ids here."""


def write_checkpoint(checkpoint: Checkpoint, folder: str | Path, *, half: bool = False) -> None:
    """Write `checkpoint` to `folder`, made where it does not exist, with its weights in float32 or, if `half`, in
    float16; the rows of its tokens are put in the order of this program, where the four special ones come first.

    A kill at any moment leaves each file as it was or as it is to be, and the config, without which a folder is no
    model, is written last. Raise AttnvizError where its choices or its vocabularies are not understood, where a weight
    is too large for float16, and where a file cannot be written.
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
        tokenizer = WordTokenizer(serialised(*tokens, opened=checkpoint.opened))
    except ValueError as error:
        raise AttnvizError(gettext("The vocabularies cannot be used: {error}.", error=error)) from error
    save_model(folder, network, tokenizer, torch.float16 if half else torch.float32)


def _order(vocabulary: Vocabulary) -> list[int]:
    """Return the ids of a vocabulary as they are to be ordered: PAD, UNK, BOS and EOS, then the others as they were."""
    first = [vocabulary.special(*names) for names in _SPECIAL]
    return [*first, *(index for index in range(len(vocabulary.tokens)) if index not in first)]


def _named(vocabulary: Vocabulary, order: Sequence[int]) -> list[str]:
    """Return the tokens in this order, the special ones by the names they have here."""
    return [*SPECIAL_PIECES, *(vocabulary.tokens[index] for index in order[len(SPECIAL_PIECES) :])]


def _ordered(weights: Mapping[str, Array], orders: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Return the weights with the rows of every token in the order of its side."""
    rows = {
        "encoder.embedding.weight": "encoder",
        "decoder.embedding.weight": "decoder",
        "decoder.output.weight": "decoder",
        "decoder.output.bias": "decoder",
    }
    return {name: value[orders[rows[name]]] if name in rows else value for name, value in weights.items()}
