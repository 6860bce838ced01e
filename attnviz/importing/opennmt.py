r"""Convert checkpoints of OpenNMT-py's recurrent models (`-encoder_type rnn` or `brnn`, `-decoder_type rnn`).

    h_j = [forward RNN ; backward RNN] of the last layer over x_1 … x_n, or of the forward RNN alone
    s_0 of each layer = last states of the encoder's layer, or max(0, W_b s + b_b) of these states (-bridge)
    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0, or without t where there is no input feeding
    general:  e_ij = s_i . W_in h_j,                           t_i = tanh(W_t [s_i ; c_i])
    dot:      e_ij = s_i . h_j,                                t_i = tanh(W_t [s_i ; c_i])
    mlp:      e_ij = v . tanh(W_q s_i + b_q + W_c h_j),        t_i = W_t [s_i ; c_i] + b_t
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j,  logits = W_o t_i + b_o

With -bridge, s has the L m numbers of all layers. The states of an encoder of two directions are two such vectors, each
multiplied by the same matrix. -coverage_attn changes the loss of training, not these equations: the program stores
a matrix W_cover, but never reads it. A source sentence has no </s>. From version 3 on, the file has the vocabularies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Stored, Vocabulary, vocabulary_of
from attnviz.importing.recurrent_run import (
    STARTS,
    Checkpoint,
    assembled,
    put_behind,
    rnn_names,
    under_our_names,
    with_special,
)
from attnviz.importing.unsupported import opennmt_way_out, option_message
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
    **{f"encoder.bridge.0.{kind}": f"decoder.bridge.{kind}" for kind in ("weight", "bias")},
    **{f"encoder.bridge.1.{kind}": f"decoder.memory_bridge.{kind}" for kind in ("weight", "bias")},
    **{f"generator.{layer}{kind}": f"decoder.output.{kind}" for layer in ("0.", "") for kind in ("weight", "bias")},
    **rnn_names("encoder.rnn.{gate}_l{layer}{way}", "encoder"),
}
_FED = rnn_names("decoder.rnn.layers.{layer}.{gate}{way}", "decoder")
"""Names of the decoder RNN with input feeding."""
_UNFED = rnn_names("decoder.rnn.{gate}_l{layer}{way}", "decoder")
_GENERAL = "decoder.attn.linear_in.weight"
"""The matrix of general attention, W_in."""
_UNREAD = "decoder.attn.linear_cover.weight"
"""Matrix of `-coverage_attn`, which the program stores, but does not read."""
_OPTIONS: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "model_type": (("text",), ""),
    "encoder_type": (("rnn", "brnn"), r"^encoder\.(cnn|linear|gnn|ggnn)\b"),
    "decoder_type": (("rnn",), r"^decoder\.(conv_layers|linear)\b"),
    "rnn_type": (("LSTM", "GRU"), r"\.rnn_lst\."),
    "global_attention": (("general", "dot", "mlp"), ""),
    "global_attention_function": (("softmax",), ""),
    "generator_function": (("softmax", "log_softmax"), ""),
    "context_gate": ((None,), r"\.context_gate\."),
    "copy_attn": ((False,), r"\.(copy_attn|linear_copy)\."),
    "position_encoding": ((False,), r"\.make_embedding\.pe\."),
    "n_src_feats": ((0,), r"\.(emb_luts\.[1-9]\d*|make_embedding\.mlp)\."),
    "lora_layers": (([],), r"\.lora_"),
    "lora_embedding": ((False,), ""),
    "quant_layers": (([],), r"\.(qweight|qzeros|SCB|absmax|quant_map)\b"),
}
"""Options that change the computation: the supported values, the default first, and tensors that only others have."""


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a checkpoint with its vocabularies, or in a folder with source.txt and target.txt.

    Raise AttnvizError, naming what was found, where the structure differs.
    """
    export, additive = opennmt_way_out(), "decoder.attn.linear_context.weight" in stored.tensors
    options = _options(stored.extras.get("opt"))
    _check_options(options, stored.tensors, export)
    tensors = {name: tensor for name, tensor in stored.tensors.items() if name != _UNREAD}
    names = _NAMES | (_FED if not {*_FED}.isdisjoint(tensors) else _UNFED)
    names |= {} if additive else {_GENERAL: "decoder.key.weight"}
    weights = under_our_names(tensors, names, export)
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
        first_state="rectified" if "decoder.bridge.weight" in weights else "layers",
        readout="affine" if additive else "tanh",
    )
    start, source, target = _vocabularies(stored)
    weights, source, target = with_special(weights, source, target)
    settings |= {"vocabulary_size": len(target.tokens), "source_vocabulary_size": len(source.tokens)}
    if start in target.ids:  # the program may begin with another token than <s>
        embeddings = weights["decoder.embedding.weight"] = weights["decoder.embedding.weight"].copy()
        embeddings[target.special(*STARTS)] = embeddings[target.ids[start]]
    assumed = gettext(
        "The checkpoint does not contain the options of its training. attnviz assumes that softmax computes the "
        "attention weights and the probabilities of words."
    )
    remarks = () if options else (assumed,)
    return Checkpoint(settings, weights, source, target, stored.name, closed=False, remarks=remarks)


_TENSORS = {option: re.compile(pattern) for option, (_, pattern) in _OPTIONS.items()}


def _options(stored: object) -> Mapping[str, Any]:
    """Return the options of a training by name, given as a namespace or mapping."""
    options: Mapping[str, Any] = stored if isinstance(stored, Mapping) else getattr(stored, "__dict__", {})
    return options


def _check_options(options: Mapping[str, Any], tensors: Mapping[str, Array], export: str) -> None:
    """Raise AttnvizError where an option of the training changes the computation in a way that is not supported."""
    for option, (supported, pattern) in _OPTIONS.items():
        value = options.get(option, supported[0])
        if value not in supported or (pattern and any(_TENSORS[option].search(name) for name in tensors)):
            chosen = f" {value[:40]}" if isinstance(value, str) and value not in supported else ""
            raise AttnvizError(option_message(f"-{option}{chosen}", export))


def _vocabularies(stored: Stored) -> tuple[str, Vocabulary, Vocabulary]:
    """Return the token that the decoder begins with, and the vocabularies of source and target."""
    stored_lists = stored.extras.get("vocab")
    fields = stored_lists if isinstance(stored_lists, Mapping) else {}
    start = str(fields.get("decoder_start_token", STARTS[1]))
    if not all(isinstance(fields.get(side), (list, tuple)) for side in ("src", "tgt")):
        return start, *stored.vocabularies()
    name = gettext("in the checkpoint")
    return start, vocabulary_of(fields["src"], name), vocabulary_of(fields["tgt"], name)
