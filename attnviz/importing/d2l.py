r"""Convert checkpoints of *Dive into Deep Learning*, class `Seq2SeqAttentionDecoder` with `Seq2SeqEncoder` (PyTorch).

    h_j = GRU over x_1 … x_n <eos>, of the last of several layers
    s_0 of each layer = state of the encoder's layer after <eos> and the padding behind it
    e_ij = v . tanh(W_q s_{i-1} + W_k h_j),  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),  logits = W_o s_i + b_o

The encoder reads the padding of a sentence up to the length `num_steps` of the data, which the checkpoint does not
name: 9 by default in the edition 1.0, 10 in earlier ones. The folder needs three files:

    torch.save(model.state_dict(), "model.pt")
    Path("source.txt").write_text("\n".join(data.src_vocab.idx_to_token))
    Path("target.txt").write_text("\n".join(data.tgt_vocab.idx_to_token))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.importing.checkpoint import Stored
from attnviz.importing.program import Program, Weights, rnn_names
from attnviz.importing.unsupported import d2l_way_out
from attnviz.languages import gettext

_NEWER = "encoder.rnn.rnn.weight_ih_l0"
"""Tensor that the edition 1.0 has, but no earlier one."""


def _default_length(stored: Stored) -> int:
    """Return the default of `num_steps` in the edition of the checkpoint."""
    return 9 if _NEWER in stored.tensors else 10


def _adapt(stored: Stored, _: Weights) -> Mapping[str, Any]:
    return {"source_length": _default_length(stored) if stored.padded_length is None else stored.padded_length}


def _remarks(stored: Stored) -> Sequence[str]:
    if stored.padded_length is not None:
        return ()
    return (
        gettext(
            "The encoder also reads padding: sentences are padded to {length} tokens, the default of num_steps in this "
            "edition of d2l.ai. If your data had another num_steps, give that number with --padded-length.",
            length=_default_length(stored),
        ),
    )


PROGRAM = Program(
    family="d2l",
    # The other translators of the book have no such tensor.
    identifying_tensor="decoder.attention.W_k.weight",
    names={
        "encoder.embedding.weight": "encoder.embedding.weight",
        "decoder.embedding.weight": "decoder.embedding.weight",
        "decoder.attention.W_q.weight": "decoder.query.weight",
        "decoder.attention.W_k.weight": "decoder.key.weight",
        "decoder.attention.w_v.weight": "decoder.score",
        "decoder.dense.weight": "decoder.output.weight",
        "decoder.dense.bias": "decoder.output.bias",
        **rnn_names("encoder.rnn.rnn.{gate}_l{layer}{way}", "encoder"),
        **rnn_names("encoder.rnn.{gate}_l{layer}{way}", "encoder"),
        **rnn_names("decoder.rnn.{gate}_l{layer}{way}", "decoder"),
    },
    settings={"attention": "additive", "query": "previous", "first_state": "layers", "readout": "state"},
    context_first="decoder.rnn.weight_ih_l0",
    adapt=_adapt,
    remarks=_remarks,
    export=d2l_way_out,
)
