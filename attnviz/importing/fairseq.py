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

from attnviz.errors import user_error
from attnviz.importing.checkpoint_folder import Stored, Vocabulary, option_fields
from attnviz.importing.program import Program, StoredWeights
from attnviz.importing.unsupported import fairseq_way_out
from attnviz.reading import open_content, reading_errors

_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Tokens before those of a dictionary's file."""
_FLAG = " #fairseq:overwrite"


def _adapt(_: Stored, weights: StoredWeights) -> Mapping[str, Any]:
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
    languages = _languages(stored.extras)
    for source, target in (languages, ("src", "tgt"), ("source", "target")):
        if source in found and target in found:
            return _dictionary(found[source]), _dictionary(found[target])._replace(start="</s>")
    raise user_error(
        "{folder} has no dictionaries {source} and {target}. Copy the dictionaries there from the folder that "
        "fairseq-preprocess wrote. If their languages are unknown, call the dictionaries dict.src.txt and "
        "dict.tgt.txt.",
        folder=stored.folder,
        source=f"dict.{languages[0]}.txt",
        target=f"dict.{languages[1]}.txt",
    )


def _languages(extras: Mapping[str, Any]) -> tuple[str, str]:
    """Return source and target language, which the checkpoint names in one of two places; else "src" and "tgt"."""
    options = option_fields(extras.get("args")) or option_fields(option_fields(extras.get("cfg")).get("task"))
    source, target = options.get("source_lang"), options.get("target_lang")
    return (source, target) if isinstance(source, str) and isinstance(target, str) else ("src", "tgt")


def _dictionary(path: Path) -> Vocabulary:
    """Return the tokens of a dictionary, each of whose lines has a token and its count."""
    tokens, content = [*_SPECIAL], open_content(path)
    with reading_errors(path):
        for line in content.lines:
            token, _, count = line.removesuffix(_FLAG).rpartition(" ")
            if not count.isdigit():
                raise user_error("Each line must have a token and its count.")
            tokens.append(token)
    return Vocabulary(tokens, str(path))


FAIRSEQ = Program(
    family="fairseq",
    identifying_tensor="encoder.lstm.weight_ih_l0",
    layers={
        "encoder.embed_tokens": "encoder.embedding",
        "encoder.lstm.{gate}_l{layer}{way}": "encoder.rnn",
        "decoder.embed_tokens": "decoder.embedding",
        "decoder.layers.{layer}.{gate}{way}": "decoder.rnn",
        "decoder.encoder_hidden_proj": "decoder.bridge",
        "decoder.encoder_cell_proj": "decoder.memory_bridge",
        "decoder.attention.output_proj": "decoder.readout",
        "decoder.additional_fc": "decoder.between",
        "decoder.fc_out": "decoder.output",
    },
    tensors={"decoder.attention.input_proj.weight": "decoder.key.weight"},
    settings={"attention": "general", "query": "new", "readout": "tanh"},
    context_first="decoder.readout.weight",
    adapt=_adapt,
    vocabularies=_dictionaries,
    export=fairseq_way_out,
)
