"""`Checkpoint`, an imported recurrent translator: names and checks of tensors, settings, special tokens, NumPy runs.

The equations are those of `analysis.seq2seq_verification`, in float64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis import seq2seq_verification as network
from attnviz.analysis.cells import names
from attnviz.analysis.seq2seq_verification import weight_shapes
from attnviz.errors import AttnvizError
from attnviz.imported_families import FAMILIES
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.unsupported import way_out
from attnviz.languages import gettext, ngettext
from attnviz.trace import MOST_TOKENS, Attention, attention

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
_FAR_BELOW = 100.0
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
    weights["decoder.output.bias"] = np.append(bias, np.full(words - len(bias), bias.min() - _FAR_BELOW))
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


_NEVER = {"joey": (PADDING, STARTS), "fairseq": (PADDING,)}
"""Special tokens that the search of a program never writes."""
_NEVER_EMPTY = ("joey", "fairseq")
"""Programs whose search does not end a translation before its first word."""


@dataclass(frozen=True, eq=False)
class RecurrentRun:
    """One translation with the values of every step, in float64.

    Ty counts target tokens; Tx counts source tokens, with the start and end tokens that the family adds; n is the
    decoder's size.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    """Target tokens; the last is the end token unless the length limit was reached."""
    target_ids: tuple[int, ...]
    annotations: Array
    """Annotations h_j, (Tx, 2m)."""
    energies: Array
    """Energies e_ij, (Ty, Tx)."""
    alignment: Array
    """Attention alpha_ij, (Ty, Tx); rows sum to 1."""
    contexts: Array
    """Contexts c_i, (Ty, 2m)."""
    states: Array
    """States s_i of the last layer, (Ty, n)."""
    readouts: Array
    """Vectors from which the logits are computed, (Ty, r)."""
    logits: Array
    """Logits over the K target tokens, (Ty, K)."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """An imported translator.

    `settings` are the fields of a `Seq2SeqConfig`, `weights` have the names of `network.seq2seq`, and the vocabularies
    keep the ids of the checkpoint.
    """

    settings: Mapping[str, Any]
    weights: Mapping[str, Array]
    source: Vocabulary
    target: Vocabulary
    name: str
    opened: bool = False
    """Whether a source sentence begins with a start token."""
    closed: bool = True
    """Whether a source sentence ends with an end token."""
    remarks: tuple[str, ...] = ()
    """Sentences about what was assumed, since the checkpoint does not tell it."""

    def __post_init__(self) -> None:
        """Raise AttnvizError where a vocabulary and its embedding matrix differ in size."""
        rows = (self.settings["source_vocabulary_size"], self.settings["vocabulary_size"])
        for vocabulary, count in zip((self.source, self.target), rows, strict=True):
            check_size(vocabulary, count)

    @property
    def family(self) -> str:
        """Display name of the model family."""
        return FAMILIES[self.settings["family"]]

    @property
    def filled(self) -> int:
        """Number of pieces up to which a source sentence is filled with padding, which attention reaches; else 0."""
        return int(self.settings["source_length"]) if self.settings["attends_padding"] else 0

    def attention(self, text: str, target: str | None = None) -> Attention:
        """Return the attention, energies and states for `text`, which has its tokens separated by blanks.

        With a `target` the decoder is forced through its tokens. Raise AttnvizError as `run`.
        """
        run = self.run(text.split(), None if target is None else target.split())
        return attention(
            run.source,
            run.target,
            run.alignment,
            energies=run.energies,
            states=run.states,
            origin=f"{self.name[:80]}, {self.family}",
        )

    def run(self, source: Sequence[str], target: Sequence[str] | None = None) -> RecurrentRun:
        """Return a translation with all its values, by greedy search or forced through `target`.

        Greedy search follows the rules of the model's own program. Raise AttnvizError where there are no tokens, or too
        many.
        """
        if not source or (target is not None and not target) or max(len(source), len(target or ())) > MOST_TOKENS - 2:
            raise AttnvizError(gettext("Source and target must each have 1 to {most} tokens.", most=MOST_TOKENS - 2))
        stop = self.target.special(*STOPS)
        words = _ids(self.source, source)
        marks = [self.source.special(*STARTS)] if self.opened else []
        source_ids = [*marks, *words, *([self.source.special(*STOPS)] if self.closed else [])]
        if self.filled and len(source_ids) > self.filled:
            raise AttnvizError(gettext("Source and target must each have 1 to {most} tokens.", most=self.filled - 1))
        source_ids += [self.source.special(*PADDING)] * (self.filled - len(source_ids))
        forced = [*_ids(self.target, target), stop] if target else None
        encoded = network.encode(self.weights, self.settings, source_ids, self.source.special(*PADDING))
        annotations, keys = encoded.annotations, network.keys_of(self.weights, encoded.annotations)
        state = network.start_state(self.weights, self.settings, encoded)
        steps, written_ids = list[dict[str, Array]](), [self.target.special(*STARTS)]
        while len(steps) < (len(forced) if forced else min(2 * len(source_ids) + 20, MOST_TOKENS)):
            arrays, state = network.step(self.weights, self.settings, annotations, keys, state, written_ids[-1])
            written_ids.append(forced[len(steps)] if forced else self._chosen(arrays["logits"], len(steps)))
            steps.append(arrays)
            if not forced and written_ids[-1] == stop:
                break
        names = ("energies", "alignment", "contexts", "readouts", "logits")
        return RecurrentRun(
            source=tuple(self.source.tokens[i] for i in source_ids),
            target=tuple(self.target.tokens[i] for i in written_ids[1:]),
            target_ids=tuple(written_ids[1:]),
            annotations=annotations,
            states=np.stack([arrays["layer_states"][-1] for arrays in steps]),
            **{name: np.stack([arrays[name] for arrays in steps]) for name in names},
        )

    def _chosen(self, logits: Array, step: int) -> int:
        """Return the token that greedy search chooses at 0-based `step`, by the rules of the program."""
        family, logits = self.settings["family"], logits.copy()
        never = [*_NEVER.get(family, ()), *([STOPS] if step == 0 and family in _NEVER_EMPTY else [])]
        logits[[self.target.special(*names) for names in never]] = -np.inf
        return int(logits.argmax())


def _ids(vocabulary: Vocabulary, tokens: Sequence[str]) -> list[int]:
    known_tokens = (vocabulary.known_token(token) for token in tokens)
    return [
        vocabulary.special(*UNKNOWN) if known_form is None else vocabulary.ids[known_form]
        for known_form in known_tokens
    ]
