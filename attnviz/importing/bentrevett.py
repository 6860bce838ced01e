"""Convert checkpoints of the PyTorch seq2seq tutorial by bentrevett.

The model is that of "Neural Machine Translation by Jointly Learning to Align and Translate" in
bentrevett/pytorch-seq2seq and its many copies:

    h_j = [forward GRU ; backward GRU] over <sos> x_1 … x_n <eos>
    s_0 = tanh(W_0 [forward h_last ; backward h_first] + b_0)
    e_ij = v . tanh(W_s s_{i-1} + W_h h_j + b),  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1})
    logits = F [s_i ; c_i ; E y_{i-1}] + b_F

As in RNNsearch the query is s_{i-1}. Unlike RNNsearch, the readout is linear and uses s_i, so a logit is exactly a
sum of parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.analysis.cells import names
from attnviz.imported_families import completed
from attnviz.importing.checkpoint import Array, Stored, Vocabulary
from attnviz.importing.recurrent_run import Checkpoint, check_names, renamed, unexpected_shape

_OWN = (
    "encoder.embedding.weight",
    "encoder.fc.weight",
    "encoder.fc.bias",
    "decoder.embedding.weight",
    *(f"encoder.rnn.{name}" for way in ("", "_reverse") for name in names(0, way)),
    *(f"decoder.rnn.{name}" for name in names(0)),
)
_EITHER = {
    "energy.weight": ("decoder.attention.attn_fc.weight", "decoder.attention.attn.weight", "attention.attn.weight"),
    "energy.bias": ("decoder.attention.attn_fc.bias", "decoder.attention.attn.bias", "attention.attn.bias"),
    "score": (
        "decoder.attention.v_fc.weight",
        "decoder.attention.v.weight",
        "decoder.attention.v",
        "attention.v.weight",
    ),
    "readout.weight": ("decoder.fc_out.weight", "decoder.out.weight"),
    "readout.bias": ("decoder.fc_out.bias", "decoder.out.bias"),
}
"""Alternative names of the same tensor in versions of the tutorial."""
_NAMES = {
    "encoder.embedding.weight": "encoder.embedding.weight",
    "decoder.embedding.weight": "decoder.embedding.weight",
    "encoder.fc.weight": "decoder.bridge.weight",
    "encoder.fc.bias": "decoder.bridge.bias",
    "energy.bias": "decoder.key.bias",
    "readout.weight": "decoder.output.weight",
    "readout.bias": "decoder.output.bias",
}
"""Names of the tensors here."""


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a folder with source.txt and target.txt; raise AttnvizError as `bentrevett_model`."""
    return bentrevett_model(stored.tensors, *stored.vocabularies(), stored.name)


def bentrevett_model(tensors: Mapping[str, Array], source: Vocabulary, target: Vocabulary, name: str) -> Checkpoint:
    """Return the translator with these tensors, given by name.

    Raise AttnvizError, naming what was found and what is supported, where the structure differs.
    """
    named = _checked_tensors(tensors)
    weights, state = renamed(named, _NAMES), named["decoder.rnn.weight_hh_l0"].shape[1]
    query, key = np.split(named["energy.weight"], [state], axis=1)
    weights |= {"decoder.query.weight": query, "decoder.key.weight": key, "decoder.score": named["score"].ravel()}
    (sources, read), (targets, word) = (named[f"{side}.embedding.weight"].shape for side in ("encoder", "decoder"))
    settings = {
        "family": "tutorial",
        "vocabulary_size": targets,
        "source_vocabulary_size": sources,
        "embedding_size": word,
        "source_embedding_size": read,
        "encoder_size": named["encoder.rnn.weight_hh_l0"].shape[1],
        "hidden_size": state,
        "alignment_size": len(key),
        "cell": "gru",
        "encoder_cell": "gru",
        "encoder_layers": 1,
        "layers": 1,
        "attention": "additive",
        "first_state": "bridge",
        "input_feeding": False,
        "source_scaled": False,
        "target_scaled": False,
    }
    return Checkpoint(completed(settings), weights, source, target, name, opened=True)


def _checked_tensors(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tensors under the names used here; raise AttnvizError where the structure differs."""
    named = {name: tensors[name] for name in _OWN if name in tensors}
    for name, alternatives in _EITHER.items():
        if present := [tensors[other] for other in alternatives if other in tensors]:
            named[name] = present[0]
    known = {*_OWN, *(other for forms in _EITHER.values() for other in forms if _same(tensors, forms, other))}
    check_names([name for name in (*_OWN, *_EITHER) if name not in named], sorted(set(tensors) - known))
    if wrong := _wrong_shape(named):
        raise unexpected_shape(wrong, named[wrong])
    return named


def _same(tensors: Mapping[str, Array], alternatives: Sequence[str], name: str) -> bool:
    """Return whether the tensor `name` equals the first of the `alternatives`: a model may list a shared part twice."""
    first = next((tensors[other] for other in alternatives if other in tensors), None)
    return first is not None and name in tensors and np.array_equal(first, tensors[name])


def _wrong_shape(named: Mapping[str, Array]) -> str:
    """Return the name of a tensor whose shape does not fit the others; empty where all fit."""
    if flat := [name for name in named if "weight" in name and named[name].ndim != 2]:
        return flat[0]
    embedded, hidden = named["encoder.embedding.weight"].shape[1], named["encoder.rnn.weight_hh_l0"].shape[1]
    state, (words, word) = named["decoder.rnn.weight_hh_l0"].shape[1], named["decoder.embedding.weight"].shape
    size = named["energy.weight"].shape[0]
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.fc.weight": (state, 2 * hidden),
        "encoder.fc.bias": (state,),
        "energy.bias": (size,),
        "energy.weight": (size, state + 2 * hidden),
        "readout.bias": (words,),
        "readout.weight": (words, state + 2 * hidden + word),
    }
    for prefix, directions, width, inputs in (
        ("encoder", ("", "_reverse"), hidden, embedded),
        ("decoder", ("",), state, word + 2 * hidden),
    ):
        for direction in directions:
            gates = ((3 * width, inputs), (3 * width, width), (3 * width,), (3 * width,))
            shapes |= {f"{prefix}.rnn.{name}": shape for name, shape in zip(names(0, direction), gates, strict=True)}
    if named["score"].size != size:
        return "score"
    return next((name for name, shape in shapes.items() if named[name].shape != shape), "")
