"""Check and rename the tensors and special tokens of a checkpoint, and read off them the settings of the translator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.cells import names
from attnviz.analysis.seq2seq_verification import weight_shapes
from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.unsupported import way_out
from attnviz.languages import gettext, ngettext

_MOST_LAYERS = 64


def rnn_names(theirs: str, ours: str) -> dict[str, str]:
    """Return the names of the weights of an RNN in a program, each with its name here.

    `theirs` is a pattern with the fields {gate}, {layer} and {way}, such as "encoder.lstm.{gate}_l{layer}{way}"; `ours`
    is "encoder" or "decoder".
    """
    return {
        theirs.format(gate=name.partition("_l")[0], layer=layer, way=way): f"{ours}.rnn.{name}"
        for layer in range(_MOST_LAYERS)
        for way in ("", "_reverse")
        for name in names(layer, way)
    }


def under_our_names(tensors: Mapping[str, Array], known: Mapping[str, str], export: str) -> dict[str, Array]:
    """Return the tensors under the names of `network.seq2seq`; `known` maps the names of the program to these.

    Raise AttnvizError where a tensor is not known, or a weight is no matrix or a bias no vector.
    """
    check_names([], sorted(set(tensors) - set(known)), export)
    for name, tensor in tensors.items():
        if tensor.ndim != (1 if "bias" in name else 2) or not tensor.size:
            raise unexpected_shape(name, tensor, export)
    weights = {known[name]: tensor for name, tensor in tensors.items()}
    if (score := weights.get("decoder.score")) is not None and len(score) == 1:
        weights["decoder.score"] = score[0]  # the programs have a layer of one unit
    return weights


def put_behind(weights: dict[str, Array], name: str, first: int) -> None:
    """Move the `first` columns of a matrix (R, C) behind the others, if it is there."""
    if (matrix := weights.get(name)) is not None:
        weights[name] = np.concatenate([matrix[:, first:], matrix[:, :first]], axis=1)


def assembled(
    weights: Mapping[str, Array], known: Mapping[str, str], export: str, **choices: Any
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return settings and weights of a translator; biases that the program lacks become zeros.

    `known` maps the names of the program to those of the `weights`, for errors. `choices` are the settings that the
    weights do not tell. Raise AttnvizError unless the weights fit together; `export` says how to get the attention
    instead.
    """
    settings, biases = _described(weights, choices), dict[str, Array]()
    for layer in ("key", "readout", "output"):
        if f"decoder.{layer}.weight" in weights and f"decoder.{layer}.bias" not in weights:
            biases[f"decoder.{layer}.bias"] = np.zeros(len(weights[f"decoder.{layer}.weight"]))
    _check_weights({**weights, **biases}, settings, known, export)
    return settings, {**weights, **biases}


def _described(weights: Mapping[str, Array], choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a translator: what its weights tell, and the `choices`; sizes of missing weights are 0."""

    def size(name: str, axis: int) -> int:
        return int(weights[name].shape[axis]) if name in weights else 0

    def cell(side: str) -> str:
        name = f"{side}.rnn.weight_hh_l0"
        return "lstm" if size(name, 0) == 4 * size(name, 1) else "gru"

    layers = {
        side: sum(f"{side}.rnn.weight_hh_l{layer}" in weights for layer in range(_MOST_LAYERS))
        for side in ("encoder", "decoder")
    }
    word, state = size("decoder.embedding.weight", 1), size("decoder.rnn.weight_hh_l0", 1)
    return {
        "vocabulary_size": size("decoder.embedding.weight", 0),
        "source_vocabulary_size": size("encoder.embedding.weight", 0),
        "embedding_size": word,
        "source_embedding_size": size("encoder.embedding.weight", 1),
        "encoder_size": size("encoder.rnn.weight_hh_l0", 1),
        "hidden_size": state,
        "alignment_size": size("decoder.key.weight", 0) or size("decoder.place.weight", 1) or state,
        "cell": cell("decoder"),
        "encoder_cell": cell("encoder"),
        "encoder_layers": max(layers["encoder"], 1),
        "layers": max(layers["decoder"], 1),
        "directions": 1 + ("encoder.rnn.weight_hh_l0_reverse" in weights),
        "input_feeding": choices["query"] == "new" and size("decoder.rnn.weight_ih_l0", 1) > word,
        "source_scaled": False,
        "target_scaled": False,
        "key_bias": "decoder.key.bias" in weights,
        "readout_bias": "decoder.readout.bias" in weights,
        "output_bias": "decoder.output.bias" in weights,
        "source_length": size("decoder.place.weight", 0),
        "attends_padding": "decoder.place.weight" in weights,
        "combined": "decoder.combine.weight" in weights,
        **choices,
    }


def _check_weights(
    weights: Mapping[str, Array], settings: Mapping[str, Any], known: Mapping[str, str], export: str
) -> None:
    """Raise AttnvizError unless the weights are those of a translator with these settings.

    `known` maps the names of the program to those here: errors name the former.
    """
    from attnviz.network import Seq2SeqConfig  # it imports torch

    theirs, shapes = {ours: own for own, ours in reversed(list(known.items()))}, weight_shapes(settings)
    missing = [theirs.get(name, name) for name in shapes if name not in weights]
    check_names(missing, [theirs.get(name, name) for name in sorted(set(weights) - set(shapes))], export)
    try:
        Seq2SeqConfig(**settings)
    except ValueError as error:
        raise other_structure(str(error), export) from error
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise unexpected_shape(theirs.get(name, name), weights[name], export)


def check_size(vocabulary: Vocabulary, rows: int) -> None:
    """Raise AttnvizError unless the vocabulary has a token for each of the `rows` of an embedding matrix."""
    if rows != len(vocabulary.tokens):
        raise AttnvizError(
            gettext(
                "The vocabulary {name} has {count} tokens, but the checkpoint has {rows} embeddings.",
                name=vocabulary.name,
                count=len(vocabulary.tokens),
                rows=rows,
            )
        )


def renamed(tensors: Mapping[str, Array], names: Mapping[str, str]) -> dict[str, Array]:
    """Return `tensors` under the names of `network.seq2seq`; `names` maps original names to these.

    The recurrent weights of encoder and decoder keep their names.
    """
    renamed_tensors = {ours: tensors[own] for own, ours in names.items() if own in tensors}
    return renamed_tensors | {
        name: tensors[name] for name in tensors if name.startswith(("encoder.rnn.", "decoder.rnn."))
    }


def check_names(missing: Sequence[str], others: Sequence[str], export: str = "") -> None:
    """Raise AttnvizError where tensors are `missing`, or where there are `others` than the known ones."""
    if missing:
        raise other_structure(gettext("it lacks {names}", names=", ".join(missing[:4])), export)
    if others:
        reason = ngettext(
            "it has {count} unexpected tensor: {names}",
            "it has {count} unexpected tensors, such as {names}",
            len(others),
            names=", ".join(others[:3]),
        )
        raise other_structure(reason, export)


def unexpected_shape(name: str, tensor: Array, export: str = "") -> AttnvizError:
    """Return the error for a `tensor`, of any shape but the one that the other tensors imply."""
    return other_structure(gettext("{name} has the unexpected shape {shape}", name=name, shape=tensor.shape), export)


def check_shapes(tensors: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise AttnvizError unless the tensors have these names, and these shapes."""
    check_names([name for name in shapes if name not in tensors], sorted(set(tensors) - set(shapes)))
    for name, shape in shapes.items():
        if tensors[name].shape != shape:
            raise unexpected_shape(name, tensors[name])


def other_structure(reason: str, export: str = "") -> AttnvizError:
    """Return the error for a checkpoint of an unsupported structure; `export` says how to get the attention instead."""
    message = gettext(
        "The structure of this checkpoint is not supported: {reason}. attnviz imports recurrent translators of these "
        "programs: the tutorial on pytorch.org, the seq2seq tutorial of bentrevett, Dive into Deep Learning (d2l), "
        "Joey NMT, fairseq and OpenNMT-py.",
        reason=reason,
    )
    return AttnvizError(f"{message} {export or way_out()}")


STARTS = ("<sos>", "<s>", "<bos>", "<SOS>", "SOS")
STOPS, UNKNOWN = ("<eos>", "</s>", "<EOS>", "EOS"), ("<unk>", "<UNK>", "UNK")
PADDING = ("<pad>", "<PAD>", "<blank>", "PAD")
SPECIAL = (PADDING, UNKNOWN, STARTS, STOPS)
"""Names of PAD, UNK, BOS and EOS, in the order of their ids here."""
_NEVER = 100.0
"""How far the logit of a token that the program lacks lies below the smallest bias: its probability is negligible."""


def with_special(
    weights: dict[str, Array], source: Vocabulary, target: Vocabulary
) -> tuple[dict[str, Array], Vocabulary, Vocabulary]:
    """Return weights and vocabularies with the special tokens that the program lacks.

    They get embeddings of zeros, as last rows of the embeddings (K, m) and of the output, and are never written.
    Raise AttnvizError where a vocabulary and its embedding matrix differ in size.
    """
    weights = dict(weights)
    grown = {"encoder": _grown(source), "decoder": _grown(target)}
    for side, vocabulary in (("encoder", source), ("decoder", target)):
        embeddings = weights[f"{side}.embedding.weight"]
        check_size(vocabulary, len(embeddings))
        weights[f"{side}.embedding.weight"] = _with_rows(embeddings, len(grown[side].tokens))
    words, bias = len(grown["decoder"].tokens), weights["decoder.output.bias"]
    weights["decoder.output.weight"] = _with_rows(weights["decoder.output.weight"], words)
    weights["decoder.output.bias"] = np.append(bias, np.full(words - len(bias), bias.min() - _NEVER))
    return weights, grown["encoder"], grown["decoder"]


def _grown(vocabulary: Vocabulary) -> Vocabulary:
    """Return the vocabulary with the special tokens that it lacks at its end."""
    missing = [names[0] for names in SPECIAL if not any(token in vocabulary.ids for token in names)]
    tokens = (*vocabulary.tokens, *missing)
    ids = dict(vocabulary.ids) | {token: len(vocabulary.tokens) + place for place, token in enumerate(missing)}
    return dataclasses.replace(vocabulary, tokens=tokens, ids=ids)


def _with_rows(matrix: Array, count: int) -> Array:
    """Return a matrix of `count` rows, the last of them zeros."""
    return np.vstack([matrix, np.zeros((count - len(matrix), matrix.shape[1]))])
