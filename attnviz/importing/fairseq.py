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
from attnviz.importing.checkpoint import Array, Stored, Vocabulary, read_lines, vocabulary_of
from attnviz.importing.recurrent_run import Checkpoint, assembled, put_behind, rnn_names, under_our_names
from attnviz.importing.unsupported import fairseq_way_out
from attnviz.languages import gettext

IDENTIFYING_TENSOR = "encoder.lstm.weight_ih_l0"
"""Tensor whose presence identifies a checkpoint of this program."""
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Tokens before those of a dictionary's file."""
_FLAG = " #fairseq:overwrite"
_NAMES = {
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
}


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a folder with two dictionaries.

    Raise AttnvizError, naming what was found, where a dictionary is missing or the structure differs.
    """
    export = fairseq_way_out()
    weights = under_our_names(stored.tensors, _NAMES, export)
    if "decoder.output.weight" not in weights and "decoder.embedding.weight" in weights:
        weights["decoder.output.weight"] = weights["decoder.embedding.weight"]  # shared
    _multiply_between(weights)
    if (key := weights.get("decoder.key.weight")) is not None:
        weights["decoder.key.weight"] = key.T  # s . (W h) is (W s) . h
        put_behind(weights, "decoder.readout.weight", len(key))  # the program puts the context before the state
    settings, weights = assembled(
        weights,
        _NAMES,
        export,
        family="fairseq",
        attention="general",
        query="new",
        first_state="projected" if "decoder.bridge.weight" in weights else "layers",
        readout="tanh",
    )
    source, target = _dictionaries(stored)
    checkpoint = Checkpoint(settings, weights, source, target, stored.name)
    weights["decoder.embedding.weight"] = weights["decoder.embedding.weight"].copy()
    weights["decoder.embedding.weight"][target.ids["<s>"]] = weights["decoder.embedding.weight"][target.ids["</s>"]]
    return checkpoint


def _multiply_between(weights: dict[str, Array]) -> None:
    """Multiply the layer between readout and output layer, if there is one, into the output layer."""
    between, bias = weights.pop("decoder.between.weight", None), weights.pop("decoder.between.bias", None)
    output = weights.get("decoder.output.weight")
    if between is not None and output is not None and output.shape[1] == len(between):
        weights["decoder.output.weight"] = output @ between
        if bias is not None:
            zero = np.zeros(len(output))
            weights["decoder.output.bias"] = weights.get("decoder.output.bias", zero) + output @ bias


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
    settings = extras.get("cfg")
    for options in (extras.get("args"), settings.get("task") if isinstance(settings, Mapping) else None):
        fields = options if isinstance(options, Mapping) else getattr(options, "__dict__", {})
        if isinstance(source := fields.get("source_lang"), str) and isinstance(
            target := fields.get("target_lang"), str
        ):
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
