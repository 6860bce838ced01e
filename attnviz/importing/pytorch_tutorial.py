"""Convert checkpoints of the tutorial on pytorch.org, *Translation with a Sequence to Sequence Network and Attention*.

This is the form of it since 2023, with Bahdanau's attention:

    h_j = forward GRU over x_1 … x_n EOS,  s_0 = h_last
    e_ij = v . tanh(W_a s_{i-1} + b_W + U_a h_j + b_U) + b_v,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),  logits = W_o s_i + b_o

Both biases of an energy become one, b_a. b_v is left out: it is the same for all source words, so the softmax cancels
it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.analysis.cells import names
from attnviz.imported_families import completed
from attnviz.importing.checkpoint import Array, Stored, Vocabulary
from attnviz.importing.recurrent_run import Checkpoint, check_shapes, unexpected_shape, with_special

IDENTIFYING_TENSOR = "decoder.attention.Wa.weight"
"""Tensor whose presence identifies a checkpoint of this tutorial."""


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a folder with source.txt and target.txt; raise as `pytorch_tutorial_model`."""
    return pytorch_tutorial_model(stored.tensors, *stored.vocabularies(), stored.name)


def pytorch_tutorial_model(
    tensors: Mapping[str, Array], source: Vocabulary, target: Vocabulary, name: str
) -> Checkpoint:
    """Return the translator with these tensors, given by name.

    The program has no tokens for padding and unknown words; both are added, with embeddings of zeros, and never
    written. Raise AttnvizError, naming what was found, where the structure differs.
    """
    _check(tensors)
    weights = {
        "encoder.embedding.weight": tensors["encoder.embedding.weight"],
        "decoder.embedding.weight": tensors["decoder.embedding.weight"],
        "decoder.query.weight": tensors[IDENTIFYING_TENSOR],
        "decoder.key.weight": tensors["decoder.attention.Ua.weight"],
        "decoder.key.bias": tensors["decoder.attention.Wa.bias"] + tensors["decoder.attention.Ua.bias"],
        "decoder.score": tensors["decoder.attention.Va.weight"].ravel(),
        "decoder.output.weight": tensors["decoder.out.weight"],
        "decoder.output.bias": tensors["decoder.out.bias"],
        **{f"{side}.rnn.{gate}": tensors[f"{side}.gru.{gate}"] for side in ("encoder", "decoder") for gate in names(0)},
    }
    weights, source, target = with_special(weights, source, target)
    size = weights["encoder.embedding.weight"].shape[1]
    settings = {
        "family": "pytorch",
        "vocabulary_size": len(target.tokens),
        "source_vocabulary_size": len(source.tokens),
        "embedding_size": size,
        "source_embedding_size": size,
        "encoder_size": size,
        "hidden_size": size,
        "alignment_size": size,
        "cell": "gru",
        "encoder_cell": "gru",
        "encoder_layers": 1,
        "layers": 1,
        "attention": "additive",
        "first_state": "last",
        "input_feeding": False,
        "source_scaled": False,
        "target_scaled": False,
    }
    return Checkpoint(completed(settings), weights, source, target, name)


def _check(tensors: Mapping[str, Array]) -> None:
    """Raise AttnvizError where the structure differs."""
    embedding = tensors.get("encoder.embedding.weight", np.zeros(0))
    n = embedding.shape[1] if embedding.ndim == 2 else 0
    sources, targets = len(embedding), len(tensors.get("decoder.out.bias", ()))
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.embedding.weight": (sources, n),
        "decoder.embedding.weight": (targets, n),
        "decoder.attention.Va.weight": (1, n),
        "decoder.attention.Va.bias": (1,),
        "decoder.out.weight": (targets, n),
        "decoder.out.bias": (targets,),
        **{f"decoder.attention.{layer}.weight": (n, n) for layer in ("Wa", "Ua")},
        **{f"decoder.attention.{layer}.bias": (n,) for layer in ("Wa", "Ua")},
    }
    for side, inputs in (("encoder", n), ("decoder", 2 * n)):
        gates = zip(names(0), ((3 * n, inputs), (3 * n, n), (3 * n,), (3 * n,)), strict=True)
        shapes |= {f"{side}.gru.{gate}": shape for gate, shape in gates}
    check_shapes(tensors, shapes)
    if not n:
        raise unexpected_shape("encoder.embedding.weight", embedding)
