"""Convert checkpoints of the tutorial on pytorch.org, *Translation with a Sequence to Sequence Network and Attention*.

This is the form of it since 2023, with Bahdanau's attention:

    h_j = forward GRU over x_1 … x_n EOS,  s_0 = h_last
    e_ij = v . tanh(W_a s_{i-1} + b_W + U_a h_j + b_U) + b_v,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),  logits = W_o s_i + b_o

Both biases of an energy become one, b_a. b_v is left out: it is the same for all source words, so the softmax cancels
it.
"""

from __future__ import annotations

from attnviz.importing.program import Program

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
