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
from typing import Any

from attnviz.importing.checkpoint import Stored
from attnviz.importing.program import IGNORED, Program, Weights, rnn_names


def _adapt(_: Stored, weights: Weights) -> Mapping[str, Any]:
    """Add up both biases of an energy."""
    bias = weights["decoder.query.bias"]
    if bias.shape == weights["decoder.key.bias"].shape:
        weights["decoder.key.bias"] = weights["decoder.key.bias"] + weights.pop("decoder.query.bias")
    return {}


PROGRAM = Program(
    family="pytorch",
    identifying_tensor="decoder.attention.Wa.weight",
    names={
        "encoder.embedding.weight": "encoder.embedding.weight",
        "decoder.embedding.weight": "decoder.embedding.weight",
        "decoder.attention.Wa.weight": "decoder.query.weight",
        "decoder.attention.Wa.bias": "decoder.query.bias",
        "decoder.attention.Ua.weight": "decoder.key.weight",
        "decoder.attention.Ua.bias": "decoder.key.bias",
        "decoder.attention.Va.weight": "decoder.score",
        "decoder.attention.Va.bias": IGNORED,
        "decoder.out.weight": "decoder.output.weight",
        "decoder.out.bias": "decoder.output.bias",
        **rnn_names("encoder.gru.{gate}_l{layer}{way}", "encoder"),
        **rnn_names("decoder.gru.{gate}_l{layer}{way}", "decoder"),
    },
    settings={
        "cell": "gru",
        "encoder_cell": "gru",
        "encoder_layers": 1,
        "layers": 1,
        "directions": 1,
        "attention": "additive",
        "query": "previous",
        "first_state": "last",
        "readout": "state",
    },
    adapt=_adapt,
    adds_special=True,
)
