r"""Convert checkpoints of the tutorial on pytorch.org, *Translation with a Sequence to Sequence Network and Attention*.

Since 2023 it has Bahdanau's attention:

    h_j = forward GRU over x_1 … x_n EOS,  s_0 = h_last
    e_ij = v . tanh(W_a s_{i-1} + b_W + U_a h_j + b_U) + b_v,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),  logits = W_o s_i + b_o

Both biases of an energy become one, b_a. b_v is left out: it is the same for all source words, so the softmax cancels
it.

From 2017 to 2022 its attention did not read the annotations: it has weights for MAX_LENGTH positions, whatever words
are there.

    h_j = forward GRU over x_1 … x_n EOS,  h_j = 0 at the positions after EOS,  s_0 = h_n+1
    e_ij = w_j . [E y_{i-1} ; s_{i-1}] + b_j for all MAX_LENGTH positions,  alpha_i = softmax(e_i)
    c_i = sum_j alpha_ij h_j,  x_i = max(0, W_x [E y_{i-1} ; c_i] + b_x)
    s_i = GRU(x_i, s_{i-1}),  logits = W_o s_i + b_o

Here b_j is the last number of w_j, and the query ends with 1. The positions after EOS get attention too, so that they
are shown as padding.

The folder needs the files of encoder and decoder, and the vocabularies:

    torch.save(encoder.state_dict(), "encoder.pt")
    torch.save(decoder.state_dict(), "decoder.pt")
    for lang, name in ((input_lang, "source.txt"), (output_lang, "target.txt")):
        Path(name).write_text("\n".join(lang.index2word[i] for i in range(lang.n_words)))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.importing.checkpoint_folder import Stored
from attnviz.importing.program import Program, StoredWeights
from attnviz.importing.unsupported import tutorial_way_out

PYTORCH_TUTORIAL = Program(
    family="pytorch",
    identifying_tensor="decoder.attention.Wa.weight",
    layers={
        "encoder.embedding": "encoder.embedding",
        "encoder.gru.{gate}_l{layer}{way}": "encoder.rnn",
        "decoder.embedding": "decoder.embedding",
        "decoder.gru.{gate}_l{layer}{way}": "decoder.rnn",
        "decoder.attention.Wa": "decoder.query",
        "decoder.attention.Ua": "decoder.key",
        "decoder.attention.Va": "decoder.score",
        "decoder.out": "decoder.output",
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
    adds_special=True,
)


def _adapt(_: Stored, weights: StoredWeights) -> Mapping[str, Any]:
    """Put the bias of each position behind its weights."""
    place, bias = weights["decoder.place.weight"], weights["decoder.place.bias"]
    if len(place) == len(bias):
        del weights["decoder.place.bias"]
        weights["decoder.place.weight"] = np.concatenate([place, bias[:, None]], axis=1)
    return {"source_length": len(place), "alignment_size": weights["decoder.place.weight"].shape[1]}


PYTORCH_TUTORIAL_2017 = Program(
    family="pytorch-2017",
    identifying_tensor="decoder.attn_combine.weight",
    layers={
        "encoder.embedding": "encoder.embedding",
        "encoder.gru.{gate}_l{layer}{way}": "encoder.rnn",
        "decoder.embedding": "decoder.embedding",
        "decoder.gru.{gate}_l{layer}{way}": "decoder.rnn",
        "decoder.attn": "decoder.place",
        "decoder.attn_combine": "decoder.combine",
        "decoder.out": "decoder.output",
    },
    settings={
        "attention": "location",
        "attends_padding": True,
        "query": "joined",
        "combined": True,
        "first_state": "last",
        "readout": "state",
    },
    adapt=_adapt,
    adds_special=True,
    export=tutorial_way_out,
)
