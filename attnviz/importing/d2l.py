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

from collections.abc import Mapping
from typing import Any

from attnviz.importing.checkpoint_folder import Stored
from attnviz.importing.program import Program, StoredWeights
from attnviz.importing.unsupported import d2l_way_out
from attnviz.languages import gettext


def _adapt(stored: Stored, weights: StoredWeights) -> Mapping[str, Any]:
    """Return the length that the user gave, or the default of `num_steps` in the edition of the checkpoint."""
    if stored.padded_length is not None:
        return {"source_length": stored.padded_length}
    length = 9 if "encoder.rnn.rnn.weight_ih_l0" in stored.tensors else 10  # only the edition 1.0 has this tensor
    weights.remarks.append(
        gettext(
            "The encoder also reads padding: sentences are padded to {length} tokens, the default of num_steps in this "
            "edition of d2l.ai. If your data had another num_steps, give that number with --padded-length.",
            length=length,
        )
    )
    return {"source_length": length}


D2L = Program(
    family="d2l",
    # The other translators of the book have no such tensor.
    identifying_tensor="decoder.attention.W_k.weight",
    layers={
        "encoder.embedding": "encoder.embedding",
        "encoder.rnn.rnn.{gate}_l{layer}{way}": "encoder.rnn",
        "encoder.rnn.{gate}_l{layer}{way}": "encoder.rnn",
        "decoder.embedding": "decoder.embedding",
        "decoder.rnn.{gate}_l{layer}{way}": "decoder.rnn",
        "decoder.attention.W_q": "decoder.query",
        "decoder.attention.W_k": "decoder.key",
        "decoder.attention.w_v": "decoder.score",
        "decoder.dense": "decoder.output",
    },
    settings={"attention": "additive", "query": "previous", "first_state": "layers", "readout": "state"},
    context_first="decoder.rnn.weight_ih_l0",
    adapt=_adapt,
    export=d2l_way_out,
)
