r"""Convert checkpoints of Joey NMT's recurrent translator.

    h_j = [forward RNN ; backward RNN] of the last layer over x_1 … x_n </s>
    s_0 = tanh(W_b [forward h_last ; backward h_first] + b_b), or the last forward state, or 0
    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0                                 (input feeding)
    e_ij = v . tanh(W_q s_i + W_k h_j)  or  s_i . W_k h_j,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = tanh(W_t [s_i ; c_i] + b_t),  logits = W_o t_i

Unlike RNNsearch, the query is s_i, which depends on the word before the one that is predicted. A tanh lies between
context and logits, so logits do not split into a sum of parts. Joey NMT's configuration names other activations, but
its recurrent decoder always uses tanh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from attnviz.analysis.cells import names
from attnviz.errors import AttnvizError
from attnviz.imported_families import completed
from attnviz.importing.checkpoint import Array, Stored, Vocabulary
from attnviz.importing.recurrent_run import Checkpoint, check_shapes, other_structure, renamed
from attnviz.languages import gettext

IDENTIFYING_TENSOR = "src_embed.lut.weight"
"""Tensor whose presence identifies a Joey NMT checkpoint."""
ACTIVATION = "tanh"
_STARTS = ("bridge", "last", "zero")
_NAMES = {
    IDENTIFYING_TENSOR: "encoder.embedding.weight",
    "trg_embed.lut.weight": "decoder.embedding.weight",
    "decoder.bridge_layer.weight": "decoder.bridge.weight",
    "decoder.bridge_layer.bias": "decoder.bridge.bias",
    "decoder.attention.key_layer.weight": "decoder.key.weight",
    "decoder.attention.query_layer.weight": "decoder.query.weight",
    "decoder.att_vector_layer.weight": "decoder.readout.weight",
    "decoder.att_vector_layer.bias": "decoder.readout.bias",
    "decoder.output_layer.weight": "decoder.output.weight",
}
"""Names of Joey NMT's tensors, and the names used here."""


def load(stored: Stored) -> Checkpoint:
    """Return the translator in a folder of Joey NMT's trainer.

    Raise AttnvizError, naming what was found and what is supported, where the structure differs.
    """
    return joey_model(stored.tensors, _settings(stored.folder / "config.yaml"), *stored.vocabularies(), stored.name)


def joey_model(
    tensors: Mapping[str, Array], settings: Mapping[str, Any], source: Vocabulary, target: Vocabulary, name: str
) -> Checkpoint:
    """Return the translator with these tensors, given the `model` section of Joey NMT's config.yaml.

    Raise AttnvizError, naming what was found and what is supported, where the structure differs.
    """
    encoder, decoder = (settings.get(side) or {} for side in ("encoder", "decoder"))
    first = decoder.get("init_hidden", "bridge")
    layers = _check(tensors, decoder.get("activation", ACTIVATION), first)
    scaled = [bool((side.get("embeddings") or {}).get("scale", False)) for side in (encoder, decoder)]
    weights, additive = renamed(tensors, _NAMES), "decoder.attention.query_layer.weight" in tensors
    (sources, read), (targets, word) = (tensors[f"{side}_embed.lut.weight"].shape for side in ("src", "trg"))
    units, hidden = len(weights["decoder.key.weight"]), tensors["decoder.rnn.weight_hh_l0"].shape[1]
    cells = [
        "gru" if len(one) == 3 * one.shape[1] else "lstm"
        for one in (tensors[f"{side}.rnn.weight_hh_l0"] for side in ("encoder", "decoder"))
    ]
    # Joey NMT has no such biases; zeros let it share the equations of the other families.
    weights |= {"decoder.key.bias": np.zeros(units), "decoder.output.bias": np.zeros(targets)}
    if additive:
        weights["decoder.score"] = tensors["decoder.attention.energy_layer.weight"].ravel()
    chosen = {
        "family": "joey",
        "vocabulary_size": targets,
        "source_vocabulary_size": sources,
        "embedding_size": word,
        "source_embedding_size": read,
        "encoder_size": tensors["encoder.rnn.weight_hh_l0"].shape[1],
        "hidden_size": hidden,
        "alignment_size": units,
        "cell": cells[1],
        "encoder_cell": cells[0],
        "encoder_layers": layers[0],
        "layers": layers[1],
        "attention": "additive" if additive else "general",
        "first_state": first,
        "input_feeding": tensors["decoder.rnn.weight_ih_l0"].shape[1] > word,
        "source_scaled": scaled[0],
        "target_scaled": scaled[1],
    }
    return Checkpoint(completed(chosen), weights, source, target, name)


def _check(weights: Mapping[str, Array], activation: object, start: object) -> tuple[int, int]:
    """Return the numbers of encoder and decoder layers; raise AttnvizError where the structure differs."""
    if activation != ACTIVATION or start not in _STARTS:
        reason = gettext(
            "its activation is {activation} and its init_hidden is {start}",
            activation=repr(activation)[:20],
            start=repr(start)[:20],
        )
        raise other_structure(reason)
    layers = [
        sum(f"{side}.rnn.weight_hh_l{layer}" in weights for layer in range(64)) for side in ("encoder", "decoder")
    ]
    shapes = (
        _shapes(weights, layers, str(start))
        if IDENTIFYING_TENSOR in weights and all(layers)
        else {IDENTIFYING_TENSOR: ()}
    )
    check_shapes(weights, shapes)
    return layers[0], layers[1]


def _shapes(weights: Mapping[str, Array], layers: Sequence[int], start: str) -> dict[str, tuple[int, ...]]:
    """Return the shape that each tensor must have, from the sizes of a few of them."""

    def size(name: str, axis: int) -> int:
        shape = weights[name].shape if name in weights else ()
        return int(shape[axis]) if len(shape) == 2 else 0

    hidden, state = size("encoder.rnn.weight_hh_l0", 1), size("decoder.rnn.weight_hh_l0", 1)
    (sources, read), (targets, word) = (
        (size(f"{side}_embed.lut.weight", 0), size(f"{side}_embed.lut.weight", 1)) for side in ("src", "trg")
    )
    units = size("decoder.attention.key_layer.weight", 0)
    gates = {"encoder": size("encoder.rnn.weight_hh_l0", 0), "decoder": size("decoder.rnn.weight_hh_l0", 0)}
    fed = word if size("decoder.rnn.weight_ih_l0", 1) == word else word + state
    shapes: dict[str, tuple[int, ...]] = {
        IDENTIFYING_TENSOR: (sources, read),
        "trg_embed.lut.weight": (targets, word),
        "decoder.att_vector_layer.weight": (state, state + 2 * hidden),
        "decoder.att_vector_layer.bias": (state,),
        "decoder.output_layer.weight": (targets, state),
        "decoder.attention.key_layer.weight": (units, 2 * hidden),
    }
    if "decoder.attention.query_layer.weight" in weights:
        shapes |= {
            "decoder.attention.query_layer.weight": (units, state),
            "decoder.attention.energy_layer.weight": (1, units),
        }
    else:
        shapes["decoder.attention.key_layer.weight"] = (state, 2 * hidden)
    if start == "bridge":
        shapes |= {"decoder.bridge_layer.weight": (state, 2 * hidden), "decoder.bridge_layer.bias": (state,)}
    for side, directions, own, first in (("encoder", ("", "_reverse"), hidden, read), ("decoder", ("",), state, fed)):
        rows = gates[side] if gates[side] in (3 * own, 4 * own) else 3 * own
        for layer in range(layers[side == "decoder"]):
            input_size = first if layer == 0 else own * len(directions)
            for direction in directions:
                named_shapes = zip(
                    names(layer, direction), ((rows, input_size), (rows, own), (rows,), (rows,)), strict=True
                )
                shapes |= {f"{side}.rnn.{name}": shape for name, shape in named_shapes}
    return shapes


def _settings(path: Path) -> Mapping[str, Any]:
    """Return the `model` section of a Joey NMT configuration; raise AttnvizError where it cannot be read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        message = gettext(
            "{path} cannot be read ({kind}). This Joey NMT configuration must name the activation and the first "
            "decoder state, which the checkpoint does not contain.",
            path=path,
            kind=type(error).__name__,
        )
        raise AttnvizError(message) from error
    model = content.get("model") if isinstance(content, Mapping) else None
    sides = [model.get(side, {}) for side in ("encoder", "decoder")] if isinstance(model, Mapping) else [None]
    plain = all(isinstance(side, Mapping) and isinstance(side.get("embeddings") or {}, Mapping) for side in sides)
    if not isinstance(model, Mapping) or not plain:
        raise AttnvizError(gettext("{path} has no section “model” with an encoder and a decoder.", path=path))
    return model
