"""Convert checkpoints of the PyTorch seq2seq tutorial by bentrevett.

The model is that of "Neural Machine Translation by Jointly Learning to Align and Translate" in
bentrevett/pytorch-seq2seq and its many copies:

    h_j = [forward GRU ; backward GRU] over <sos> x_1 … x_n <eos>
    s_0 = tanh(W_0 [forward h_last ; backward h_first] + b_0)
    e_ij = v . tanh(W_s s_{i-1} + W_h h_j + b),  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1})
    logits = F [s_i ; c_i ; E y_{i-1}] + b_F

As in RNNsearch the query is s_{i-1}. Unlike RNNsearch, the readout is linear and uses s_i, so a logit is exactly a
sum of parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.importing.checkpoint_folder import Stored
from attnviz.importing.program import Program, StoredWeights


def _adapt(_: Stored, weights: StoredWeights) -> Mapping[str, Any]:
    """Split the matrix of the energies, which reads state and annotation."""
    state = weights["decoder.rnn.weight_hh_l0"].shape[1]
    weights["decoder.query.weight"], weights["decoder.key.weight"] = np.split(
        weights["decoder.key.weight"], [state], axis=1
    )
    return {}


BENTREVETT = Program(
    family="tutorial",
    identifying_tensor="encoder.fc.weight",
    layers={
        "encoder.embedding": "encoder.embedding",
        "encoder.rnn.{gate}_l{layer}{way}": "encoder.rnn",
        "encoder.fc": "decoder.bridge",
        "decoder.embedding": "decoder.embedding",
        "decoder.rnn.{gate}_l{layer}{way}": "decoder.rnn",
        "decoder.attention.attn_fc": "decoder.key",
        "decoder.attention.attn": "decoder.key",
        "attention.attn": "decoder.key",
        "decoder.attention.v_fc": "decoder.score",
        "decoder.attention.v": "decoder.score",
        "attention.v": "decoder.score",
        "decoder.fc_out": "decoder.output",
        "decoder.out": "decoder.output",
    },
    tensors={"decoder.attention.v": "decoder.score"},
    settings={
        "cell": "gru",
        "encoder_cell": "gru",
        "encoder_layers": 1,
        "layers": 1,
        "directions": 2,
        "attention": "additive",
        "query": "previous",
        "first_state": "bridge",
        "readout": "joined",
    },
    adapt=_adapt,
    opened=True,
)
