r"""Convert checkpoints of fairseq's `lstm` models.

    h_j = [forward LSTM ; backward LSTM] of the last layer over x_1 … x_n </s>, or of the forward LSTM alone
    s_0 of each layer = last states of the encoder's layer, or a matrix times them where the sizes differ
    s_i = LSTM([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0                                 (input feeding)
    e_ij = s_i . W_in h_j,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = tanh(W_t [s_i ; c_i]),  logits = W_o t_i + b_o

The decoder begins with </s>. A layer between t_i and the output layer (`--decoder-out-embed-dim`) is multiplied into
W_o, since nothing but matrices stands there. The folder needs the checkpoint that `fairseq-train` wrote, and the two
dictionaries of `fairseq-preprocess`, dict.SOURCE.txt and dict.TARGET.txt.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Stored, Vocabulary, fields_of, read_lines, vocabulary_of
from attnviz.importing.program import Program, Weights, rnn_names
from attnviz.importing.unsupported import fairseq_way_out
from attnviz.languages import gettext

_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Tokens before those of a dictionary's file."""
_FLAG = " #fairseq:overwrite"


def _adapt(_: Stored, weights: Weights) -> Mapping[str, Any]:
    """Multiply the layer between readout and output layer, if there is one, into the output layer."""
    output = weights.setdefault("decoder.output.weight", weights["decoder.embedding.weight"])  # shared
    between = weights.get("decoder.between.weight")
    if between is not None and output.shape[1] == len(between):
        del weights["decoder.between.weight"]
        weights["decoder.output.weight"] = output @ between
        if "decoder.between.bias" in weights:
            bias = output @ weights.pop("decoder.between.bias")
            weights["decoder.output.bias"] = weights.get("decoder.output.bias", np.zeros(len(output))) + bias
    weights["decoder.key.weight"] = weights["decoder.key.weight"].T  # s . (W h) is (W s) . h
    return {"first_state": "projected" if "decoder.bridge.weight" in weights else "layers"}


def _dictionaries(stored: Stored) -> tuple[Vocabulary, Vocabulary]:
    """Return the dictionaries of source and target; raise AttnvizError where one is missing or damaged."""
    found = {path.name.split(".")[1]: path for path in sorted(stored.folder.glob("dict.*.txt"))}
    for source, target in (_languages(stored.extras), ("src", "tgt"), ("source", "target")):
        if source in found and target in found:
            return _dictionary(found[source]), _dictionary(found[target])
    source, target = _languages(stored.extras)
    raise AttnvizError(
        gettext(
            "{folder} has no dictionaries {source} and {target}. Copy the dictionaries there from the folder that "
            "fairseq-preprocess wrote. If their languages are unknown, call the dictionaries dict.src.txt and "
            "dict.tgt.txt.",
            folder=stored.folder,
            source=f"dict.{source or 'src'}.txt",
            target=f"dict.{target or 'tgt'}.txt",
        )
    )


def _languages(extras: Mapping[str, Any]) -> tuple[str, str]:
    """Return source and target language, which the checkpoint names in one of two places; empty where it does not."""
    for fields in (fields_of(extras.get("args")), fields_of(fields_of(extras.get("cfg")).get("task"))):
        source, target = fields.get("source_lang"), fields.get("target_lang")
        if isinstance(source, str) and isinstance(target, str):
            return source, target
    return "", ""


def _dictionary(path: Path) -> Vocabulary:
    """Return the tokens of a dictionary, each of whose lines has a token and its count."""
    tokens = [*_SPECIAL]
    for line in read_lines(path):
        token, _, count = line.removesuffix(_FLAG).rpartition(" ")
        if not count.isdigit():
            error = gettext("a line must have a token and its count")
            raise AttnvizError(gettext("The vocabulary {name} is damaged ({error}).", name=path, error=error))
        tokens.append(token)
    return vocabulary_of(tokens, str(path))


PROGRAM = Program(
    family="fairseq",
    identifying_tensor="encoder.lstm.weight_ih_l0",
    names={
        "encoder.embed_tokens.weight": "encoder.embedding.weight",
        "decoder.embed_tokens.weight": "decoder.embedding.weight",
        "decoder.encoder_hidden_proj.weight": "decoder.bridge.weight",
        "decoder.encoder_hidden_proj.bias": "decoder.bridge.bias",
        "decoder.encoder_cell_proj.weight": "decoder.memory_bridge.weight",
        "decoder.encoder_cell_proj.bias": "decoder.memory_bridge.bias",
        "decoder.attention.input_proj.weight": "decoder.key.weight",
        "decoder.attention.output_proj.weight": "decoder.readout.weight",
        "decoder.additional_fc.weight": "decoder.between.weight",
        "decoder.additional_fc.bias": "decoder.between.bias",
        "decoder.fc_out.weight": "decoder.output.weight",
        "decoder.fc_out.bias": "decoder.output.bias",
        **rnn_names("encoder.lstm.{gate}_l{layer}{way}", "encoder"),
        **rnn_names("decoder.layers.{layer}.{gate}{way}", "decoder"),
    },
    settings={"attention": "general", "query": "new", "readout": "tanh"},
    context_first="decoder.readout.weight",
    adapt=_adapt,
    vocabularies=_dictionaries,
    start=lambda _: "</s>",
    export=fairseq_way_out,
)
