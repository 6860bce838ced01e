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

from attnviz.importing.checkpoint import Stored
from attnviz.importing.recurrent_run import Checkpoint, assembled, put_behind, rnn_names, under_our_names
from attnviz.importing.unsupported import d2l_way_out
from attnviz.languages import gettext

IDENTIFYING_TENSOR = "decoder.attention.W_k.weight"
"""Tensor whose presence identifies a checkpoint of this book; its other translators have no such tensor."""
_NEWER = "encoder.rnn.rnn.weight_ih_l0"
"""Tensor that the edition 1.0 has, but no earlier one."""
_LENGTHS = {True: 9, False: 10}
"""Default of `num_steps`, by whether the edition is 1.0."""
_NAMES = {
    "encoder.embedding.weight": "encoder.embedding.weight",
    "decoder.embedding.weight": "decoder.embedding.weight",
    "decoder.attention.W_q.weight": "decoder.query.weight",
    "decoder.attention.W_k.weight": "decoder.key.weight",
    "decoder.attention.w_v.weight": "decoder.score",
    "decoder.dense.weight": "decoder.output.weight",
    "decoder.dense.bias": "decoder.output.bias",
    **rnn_names("decoder.rnn.{gate}_l{layer}{way}", "decoder"),
}


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a folder with source.txt and target.txt.

    Raise AttnvizError, naming what was found, where the structure differs.
    """
    newer, export = _NEWER in stored.tensors, d2l_way_out()
    encoder = "encoder.rnn.rnn.{gate}_l{layer}{way}" if newer else "encoder.rnn.{gate}_l{layer}{way}"
    names = _NAMES | rnn_names(encoder, "encoder")
    weights = under_our_names(stored.tensors, names, export)
    # The program puts the context before the word.
    put_behind(weights, "decoder.rnn.weight_ih_l0", weights["decoder.key.weight"].shape[1])
    length = _LENGTHS[newer] if stored.padded_length is None else stored.padded_length
    settings, weights = assembled(
        weights,
        names,
        export,
        family="d2l",
        attention="additive",
        query="previous",
        first_state="layers",
        readout="state",
        source_length=length,
    )
    remark = gettext(
        "The encoder also reads padding: sentences are padded to {length} tokens, the default of num_steps in this "
        "edition of d2l.ai. If your data had another num_steps, give that number with --padded-length.",
        length=length,
    )
    remarks = (remark,) if stored.padded_length is None else ()
    return Checkpoint(settings, weights, *stored.vocabularies(), stored.name, remarks=remarks)
