r"""Convert checkpoints of OpenNMT-py's recurrent models (`-encoder_type rnn` or `brnn`, `-decoder_type rnn`).

    h_j = [forward RNN ; backward RNN] of the last layer over x_1 … x_n, or of the forward RNN alone
    s_0 of each layer = last states of the encoder's layer
    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0, or without t where there is no input feeding
    general:  e_ij = s_i . W_in h_j,                           t_i = tanh(W_t [s_i ; c_i])
    dot:      e_ij = s_i . h_j,                                t_i = tanh(W_t [s_i ; c_i])
    mlp:      e_ij = v . tanh(W_q s_i + b_q + W_c h_j),        t_i = W_t [s_i ; c_i] + b_t
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j,  logits = W_o t_i + b_o

A source sentence has no </s>. From version 3 on, the file has the vocabularies. `onmt_train` of earlier versions
pickled them with classes of torchtext, which attnviz does not load. Save them there as lists:

    checkpoint = torch.load("model.pt")
    vocab = {side: field.base_field.vocab.itos for side, field in checkpoint["vocab"].items() if side in ("src", "tgt")}
    torch.save({"model": checkpoint["model"], "generator": checkpoint["generator"], "vocab": vocab}, "plain.pt")
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.importing.checkpoint import Stored, Vocabulary, vocabulary_of
from attnviz.importing.recurrent_run import (
    STARTS,
    Checkpoint,
    assembled,
    other_structure,
    put_behind,
    rnn_names,
    under_our_names,
    with_special,
)
from attnviz.importing.unsupported import opennmt_way_out
from attnviz.languages import gettext

IDENTIFYING_TENSOR = "encoder.embeddings.make_embedding.emb_luts.0.weight"
"""Tensor whose presence identifies a checkpoint of this program."""
_NAMES = {
    IDENTIFYING_TENSOR: "encoder.embedding.weight",
    "decoder.embeddings.make_embedding.emb_luts.0.weight": "decoder.embedding.weight",
    "decoder.attn.linear_context.weight": "decoder.key.weight",
    "decoder.attn.linear_query.weight": "decoder.query.weight",
    "decoder.attn.linear_query.bias": "decoder.key.bias",
    "decoder.attn.v.weight": "decoder.score",
    "decoder.attn.linear_out.weight": "decoder.readout.weight",
    "decoder.attn.linear_out.bias": "decoder.readout.bias",
    **{f"generator.{layer}{kind}": f"decoder.output.{kind}" for layer in ("0.", "") for kind in ("weight", "bias")},
    **rnn_names("encoder.rnn.{gate}_l{layer}{way}", "encoder"),
}
_FED = rnn_names("decoder.rnn.layers.{layer}.{gate}{way}", "decoder")
"""Names of the decoder RNN with input feeding."""
_UNFED = rnn_names("decoder.rnn.{gate}_l{layer}{way}", "decoder")
_GENERAL = "decoder.attn.linear_in.weight"
"""The matrix of general attention, W_in."""


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a checkpoint with its vocabularies, or in a folder with source.txt and target.txt.

    Raise AttnvizError, naming what was found, where the structure differs.
    """
    export, additive = opennmt_way_out(), "decoder.attn.linear_context.weight" in stored.tensors
    function = getattr(stored.extras.get("opt"), "global_attention_function", "softmax")
    if function != "softmax":
        reason = gettext("its attention weights are computed by {function}", function=repr(function)[:20])
        raise other_structure(reason, export)
    names = _NAMES | (_FED if not {*_FED}.isdisjoint(stored.tensors) else _UNFED)
    names |= {} if additive else {_GENERAL: "decoder.key.weight"}
    weights = under_our_names(stored.tensors, names, export)
    if (readout := weights.get("decoder.readout.weight")) is not None:
        put_behind(weights, "decoder.readout.weight", len(readout))  # the program puts the context before the state
    attention = "additive" if additive else "general" if _GENERAL in stored.tensors else "dot"
    if attention == "general":
        weights["decoder.key.weight"] = weights["decoder.key.weight"].T  # s . (W h) is (W s) . h
    settings, weights = assembled(
        weights,
        names,
        export,
        family="opennmt",
        attention=attention,
        query="new",
        first_state="layers",
        readout="affine" if additive else "tanh",
    )
    start, source, target = _vocabularies(stored)
    weights, source, target = with_special(weights, source, target)
    settings |= {"vocabulary_size": len(target.tokens), "source_vocabulary_size": len(source.tokens)}
    if start in target.ids:  # the program may begin with another token than <s>
        embeddings = weights["decoder.embedding.weight"] = weights["decoder.embedding.weight"].copy()
        embeddings[target.special(*STARTS)] = embeddings[target.ids[start]]
    return Checkpoint(settings, weights, source, target, stored.name, closed=False)


def _vocabularies(stored: Stored) -> tuple[str, Vocabulary, Vocabulary]:
    """Return the token that the decoder begins with, and the vocabularies of source and target."""
    stored_lists = stored.extras.get("vocab")
    fields = stored_lists if isinstance(stored_lists, Mapping) else {}
    start = str(fields.get("decoder_start_token", STARTS[1]))
    if not all(isinstance(fields.get(side), (list, tuple)) for side in ("src", "tgt")):
        return start, *stored.vocabularies()
    name = gettext("in the checkpoint")
    return start, vocabulary_of(fields["src"], name), vocabulary_of(fields["tgt"], name)
