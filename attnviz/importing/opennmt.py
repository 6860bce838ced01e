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

from attnviz.importing.checkpoint_folder import Stored, Vocabulary, option_fields, vocabulary_of
from attnviz.importing.program import IGNORED, Program, StoredWeights
from attnviz.importing.unsupported import opennmt_way_out
from attnviz.languages import gettext

_NO_TENSOR = re.compile("(?!)")
"""Pattern that matches no name."""
_OPTIONS: Mapping[str, tuple[tuple[Any, ...], re.Pattern[str]]] = {
    "model_type": (("text",), _NO_TENSOR),
    "encoder_type": (("rnn", "brnn"), re.compile(r"^encoder\.(cnn|linear|gnn|ggnn)\b")),
    "decoder_type": (("rnn",), re.compile(r"^decoder\.(conv_layers|linear)\b")),
    "rnn_type": (("LSTM", "GRU"), re.compile(r"\.rnn_lst\.")),
    "global_attention": (("general", "dot", "mlp"), _NO_TENSOR),
    "global_attention_function": (("softmax",), _NO_TENSOR),
    "generator_function": (("softmax", "log_softmax"), _NO_TENSOR),
    "context_gate": ((None,), re.compile(r"\.context_gate\.")),
    "copy_attn": ((False,), re.compile(r"\.(copy_attn|linear_copy)\.")),
    "position_encoding": ((False,), re.compile(r"\.make_embedding\.pe\.")),
    "n_src_feats": ((0,), re.compile(r"\.(emb_luts\.[1-9]\d*|make_embedding\.mlp)\.")),
    "lora_layers": (([],), re.compile(r"\.lora_")),
    "lora_embedding": ((False,), _NO_TENSOR),
    "quant_layers": (([],), re.compile(r"\.(qweight|qzeros|SCB|absmax|quant_map)\b")),
}
"""Options that change the computation: the supported values, the default first, and tensors that only others have."""


def _adapt(stored: Stored, weights: StoredWeights) -> Mapping[str, Any]:
    """Raise ValueError where an option of the training changes the computation in a way that is not supported."""
    options = option_fields(stored.extras.get("opt"))
    for option, (supported, pattern) in _OPTIONS.items():
        value = options.get(option, supported[0])
        if value not in supported or any(map(pattern.search, stored.tensors)):
            chosen = f" {value[:40]}" if isinstance(value, str) and value not in supported else ""
            raise ValueError(gettext("it was trained with {option}", option=f"-{option}{chosen}"))
    if not options:
        weights.remarks.append(
            gettext(
                "The checkpoint does not contain the options of its training. attnviz assumes that softmax computes "
                "the attention weights and the probabilities of words."
            )
        )
    additive = "decoder.query.weight" in weights
    if general := "decoder.attn.linear_in.weight" in stored.tensors:
        weights["decoder.key.weight"] = weights["decoder.key.weight"].T  # s . (W h) is (W s) . h
    return {
        "attention": "additive" if additive else "general" if general else "dot",
        "first_state": "rectified" if "decoder.bridge.weight" in weights else "layers",
        "readout": "affine" if additive else "tanh",
    }


def _vocabularies(stored: Stored) -> tuple[Vocabulary, Vocabulary]:
    """Return the vocabularies of source and target, of the checkpoint or of the files beside it."""
    fields = option_fields(stored.extras.get("vocab"))
    if "src" not in fields or "tgt" not in fields:
        return stored.vocabularies()
    name = gettext("in the checkpoint")
    target = vocabulary_of(fields["tgt"], name)._replace(start=fields.get("decoder_start_token"))
    return vocabulary_of(fields["src"], name), target


OPENNMT = Program(
    family="opennmt",
    identifying_tensor="encoder.embeddings.make_embedding.emb_luts.0.weight",
    layers={
        "encoder.embeddings.make_embedding.emb_luts.0": "encoder.embedding",
        "encoder.rnn.{gate}_l{layer}{way}": "encoder.rnn",
        "decoder.embeddings.make_embedding.emb_luts.0": "decoder.embedding",
        "decoder.rnn.layers.{layer}.{gate}{way}": "decoder.rnn",  # with input feeding
        "decoder.rnn.{gate}_l{layer}{way}": "decoder.rnn",
        "encoder.bridge.0": "decoder.bridge",
        "encoder.bridge.1": "decoder.memory_bridge",
        "decoder.attn.linear_context": "decoder.key",
        "decoder.attn.linear_query": "decoder.query",
        "decoder.attn.v": "decoder.score",
        "decoder.attn.linear_out": "decoder.readout",
        "generator.0": "decoder.output",
        "generator": "decoder.output",
    },
    tensors={
        "decoder.attn.linear_in.weight": "decoder.key.weight",
        "decoder.attn.linear_cover.weight": IGNORED,  # of -coverage_attn
    },
    settings={"query": "new"},
    context_first="decoder.readout.weight",
    adapt=_adapt,
    vocabularies=_vocabularies,
    adds_special=True,
    closed=False,
    export=opennmt_way_out,
)
