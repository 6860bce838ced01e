"""`Program`: how a program stores a recurrent translator; its reader makes a `Checkpoint` of what was stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from attnviz.analysis.recomputation import rnn_weight_names
from attnviz.analysis.weight_shapes import imported_weight_shapes
from attnviz.errors import AttnvizError, user_error
from attnviz.imported_families import FAMILIES
from attnviz.importing.checkpoint_folder import Stored, Vocabulary
from attnviz.importing.unsupported import way_out
from attnviz.languages import gettext, ngettext
from attnviz.text import BOS, SPECIAL_PIECES
from attnviz.trace import Array

SPECIAL = (
    ("<pad>", "<PAD>", "<blank>", "PAD"),
    ("<unk>", "<UNK>", "UNK"),
    ("<sos>", "<s>", "<bos>", "<SOS>", "SOS"),
    ("<eos>", "</s>", "<EOS>", "EOS"),
)
"""Names of PAD, UNK, BOS and EOS, in the order of their ids here."""
IGNORED = ""
"""Name here of a tensor that does not change what the program computes."""
_FAR_BELOW = 100.0
"""How far the logit of a token that the program lacks lies below the smallest bias: its probability is negligible."""
_MOST_LAYERS = 64


def _tensor_names(layers: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the tensors of `Program.layers`, each with its name here."""
    known = dict[str, str]()
    for theirs, ours in layers.items():
        if ours.endswith(".rnn"):
            known |= {
                theirs.format(gate=name.partition("_l")[0], layer=layer, way=way): f"{ours}.{name}"
                for layer in range(_MOST_LAYERS)
                for way in ("", "_reverse")
                for name in rnn_weight_names(layer, way)
            }
        elif ours == "decoder.score":  # its bias is the same for all source words, so the softmax cancels it
            known |= {f"{theirs}.weight": ours, f"{theirs}.bias": IGNORED}
        else:
            known |= {f"{theirs}.{kind}": f"{ours}.{kind}" for kind in ("weight", "bias")}
    return known


class StoredWeights(dict[str, Array]):
    """Tensors under their names in `network.seq2seq`. A missing one raises ValueError with its name in the program."""

    def __init__(self, tensors: Mapping[str, Array], known: Mapping[str, str]) -> None:
        """Take the tensors of a program, whose `known` names map to those here, with several for one tensor.

        Raise ValueError where a weight is no matrix or a bias no vector.
        """
        super().__init__()
        self.tensors, self._known = tensors, known
        self.remarks = list[str]()
        """Sentences about what was assumed, since the checkpoint does not tell it."""
        self.unexpected = sorted(set(tensors) - set(known))
        for name, tensor in tensors.items():
            ours = known.get(name, IGNORED)
            if ours == IGNORED:
                continue
            if not tensor.size or tensor.ndim not in ((1,) if "bias" in name else (1, 2) if "score" in ours else (2,)):
                raise _unexpected_shape(name, tensor)
            if not np.array_equal(self.setdefault(ours, tensor), tensor):
                self.unexpected.append(name)
        if (score := self.get("decoder.score")) is not None and len(score) == 1:
            self["decoder.score"] = score[0]  # the programs have a layer of one unit

    def __missing__(self, name: str) -> Array:
        raise ValueError(gettext("it lacks {names}", names=self._theirs(name)))

    def _theirs(self, name: str) -> str:
        """Return the program's name of a tensor, or all its names where none is there."""
        every = [theirs for theirs, ours in self._known.items() if ours == name]
        return next((theirs for theirs in every if theirs in self.tensors), " / ".join(every) or name)

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError unless these are the weights of a translator with these settings."""
        shapes = imported_weight_shapes(settings)
        if others := self.unexpected + [self._theirs(name) for name in sorted(set(self) - set(shapes))]:
            raise ValueError(
                ngettext(
                    "it has {count} unexpected tensor: {names}",
                    "it has {count} unexpected tensors, such as {names}",
                    len(others),
                    names=", ".join(others[:3]),
                )
            )
        for name, shape in shapes.items():
            if self[name].shape != shape:
                theirs = self._theirs(name)
                raise _unexpected_shape(theirs, self.tensors.get(theirs, self[name]))


def _unexpected_shape(name: str, tensor: Array) -> ValueError:
    """Return the error for a tensor of any shape but the one that the other tensors imply."""
    return ValueError(gettext("{name} has the unexpected shape {shape}", name=name, shape=tensor.shape))


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """An imported translator."""

    settings: Mapping[str, Any]
    """Fields of a `Seq2SeqConfig`."""
    weights: Mapping[str, Array]
    """Weights under their names in `network.seq2seq`."""
    source: Sequence[str]
    """Source tokens in the order of their ids here, the special pieces first."""
    target: Sequence[str]
    name: str
    opened: bool
    closed: bool
    remarks: tuple[str, ...]
    """Sentences about what was assumed, since the checkpoint does not tell it."""

    @property
    def family(self) -> str:
        """Display name of the model family."""
        return FAMILIES[self.settings["family"]]


@dataclass(frozen=True)
class Program:
    """How a program stores a recurrent translator."""

    family: str
    identifying_tensor: str
    """Tensor whose presence identifies a checkpoint of this program."""
    layers: Mapping[str, str]
    """Names of its layers, each with its name in `network.seq2seq`. Versions may name one layer differently.

    The name of an RNN is the pattern of its weights, with the fields {gate}, {layer} and {way}.
    """
    settings: Mapping[str, Any]
    """Fields of `Seq2SeqConfig` that its tensors do not tell."""
    tensors: Mapping[str, str] = field(default_factory=dict)
    """Names of single tensors, each with its name in `network.seq2seq`."""
    context_first: str = ""
    """Name here of a matrix that reads the context before its other input, unlike the matrices here."""
    adapt: Callable[[Stored, StoredWeights], Mapping[str, Any]] = lambda _, __: {}
    """Function that changes the weights to those of the equations here, and returns further settings.

    It raises ValueError, with the reason, where the structure is not supported.
    """
    vocabularies: Callable[[Stored], tuple[Vocabulary, Vocabulary]] = Stored.vocabularies
    adds_special: bool = False
    """Whether special tokens that the program lacks are added, with embeddings of zeros, and never written."""
    opened: bool = False
    """Whether a source sentence begins with a start token."""
    closed: bool = True
    """Whether a source sentence ends with an end token."""
    export: Callable[[], str] = way_out
    """Function that returns how to export the attention of models that cannot be imported."""

    @cached_property
    def known(self) -> Mapping[str, str]:
        """Names of all its tensors, each with its name here."""
        return {**_tensor_names(self.layers), **self.tensors}

    def read(self, stored: Stored) -> Checkpoint:
        """Return the translator; raise AttnvizError, with what was found, where the structure differs."""
        from attnviz.network import Seq2SeqConfig  # it imports torch

        try:
            weights = StoredWeights(stored.tensors, self.known)
            settings = {"family": self.family, **self.settings, **self.adapt(stored, weights)}
            bias = weights.get("decoder.query.bias")
            if bias is not None and bias.shape == weights.setdefault("decoder.key.bias", np.zeros_like(bias)).shape:
                # An energy has both biases of query and key, so their sum.
                weights["decoder.key.bias"] = weights["decoder.key.bias"] + weights.pop("decoder.query.bias")
            settings = asdict(Seq2SeqConfig(**_described(weights, settings)))
            if self.context_first:
                context = settings["directions"] * settings["encoder_size"]
                weights[self.context_first] = np.roll(weights[self.context_first], -context, axis=1)
            for layer in ("key", "readout", "output"):
                if f"decoder.{layer}.weight" in weights:
                    weights.setdefault(f"decoder.{layer}.bias", np.zeros(len(weights[f"decoder.{layer}.weight"])))
            weights.check(settings)
        except ValueError as error:
            message = gettext(
                "The structure of this checkpoint is not supported. It is nearest to {program}, but {reason}. If your "
                "copy of the program has other names, map them with --rename (in Python rename=). attnviz imports "
                "recurrent translators of these programs: the tutorial on pytorch.org, the seq2seq tutorial of "
                "bentrevett, Dive into Deep Learning (d2l), Joey NMT, fairseq and OpenNMT-py.",
                program=FAMILIES[self.family],
                reason=error,
            )
            raise AttnvizError(f"{message} {self.export()}") from error
        source, target = (
            _special_first(weights, side, vocabulary, add=self.adds_special)
            for side, vocabulary in zip(("encoder", "decoder"), self.vocabularies(stored), strict=True)
        )
        settings |= {"vocabulary_size": len(target), "source_vocabulary_size": len(source)}
        remarks, name = (*stored.remarks, *weights.remarks), stored.folder.resolve().name
        return Checkpoint(settings, weights, source, target, name, self.opened, self.closed, remarks)


def _described(weights: StoredWeights, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a translator: what its weights tell, and the `chosen` ones."""
    sides = ("encoder", "decoder")
    (sources, read), (targets, word) = (weights[f"{side}.embedding.weight"].shape for side in sides)
    (encoder_gates, encoder_size), (gates, size) = (weights[f"{side}.rnn.weight_hh_l0"].shape for side in sides)
    encoder_layers, layers = (
        sum(f"{side}.rnn.weight_hh_l{layer}" in weights for layer in range(_MOST_LAYERS)) for side in sides
    )
    return {
        "vocabulary_size": targets,
        "source_vocabulary_size": sources,
        "embedding_size": word,
        "source_embedding_size": read,
        "encoder_size": encoder_size,
        "hidden_size": size,
        "alignment_size": len(weights["decoder.key.weight"]) if "decoder.key.weight" in weights else size,
        "cell": "lstm" if gates == 4 * size else "gru",
        "encoder_cell": "lstm" if encoder_gates == 4 * encoder_size else "gru",
        "encoder_layers": encoder_layers,
        "layers": layers,
        "directions": 1 + ("encoder.rnn.weight_hh_l0_reverse" in weights),
        "input_feeding": chosen["query"] == "new" and weights["decoder.rnn.weight_ih_l0"].shape[1] > word,
        "key_bias": "decoder.key.bias" in weights,
        "readout_bias": "decoder.readout.bias" in weights,
        "output_bias": "decoder.output.bias" in weights,
        **chosen,
    }


def _special_first(weights: StoredWeights, side: str, vocabulary: Vocabulary, *, add: bool) -> list[str]:
    """Return the tokens of `side`, "encoder" or "decoder", with the special pieces first; order the weights likewise.

    Raise AttnvizError where vocabulary and embeddings (K, m) differ in size, or a special token is missing; with `add`,
    it is added.
    """
    tokens, embeddings = vocabulary.tokens, weights[f"{side}.embedding.weight"]
    rows = len(embeddings)
    if rows != len(tokens):
        raise user_error(
            "The vocabulary {name} has {count} tokens, but the checkpoint has {rows} embeddings.",
            name=vocabulary.name,
            count=len(tokens),
            rows=rows,
        )
    first = list[int]()
    for spellings in SPECIAL:
        place = next((tokens.index(spelling) for spelling in spellings if spelling in tokens), rows)
        if place == rows and not add:
            raise user_error(
                "The vocabulary {name} must contain at least one of the tokens {tokens}.",
                name=vocabulary.name,
                tokens=", ".join(spellings),
            )
        first.append(place)
    order = [*first, *(place for place in range(rows) if place not in first)]
    for name in (f"{side}.embedding.weight", "decoder.output.weight", "decoder.output.bias"):
        if name.startswith(side):
            added = np.zeros_like(weights[name][:1])
            if name.endswith("bias"):
                added += weights[name].min() - _FAR_BELOW
            weights[name] = np.concatenate([weights[name], added])[order]
    if vocabulary.start in tokens:
        weights[f"{side}.embedding.weight"][BOS] = embeddings[tokens.index(vocabulary.start)]
    return [*SPECIAL_PIECES, *(tokens[place] for place in order[len(first) :])]
