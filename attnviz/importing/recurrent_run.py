"""`Checkpoint`: an imported recurrent translator, which translates in NumPy; `Course`: a translation with all values.

The equations are those of `analysis.seq2seq_recomputation`, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis import seq2seq_recomputation as network
from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.unsupported import way_out
from attnviz.languages import gettext, ngettext
from attnviz.trace import MOST_TOKENS, Attention, attention

STARTS = ("<sos>", "<s>", "<bos>", "<SOS>", "SOS")
STOPS, UNKNOWN = ("<eos>", "</s>", "<EOS>", "EOS"), ("<unk>", "<UNK>", "UNK")
PADDING = ("<pad>", "<PAD>", "<blank>", "PAD")
FAMILIES = {"tutorial": "seq2seq tutorial", "joey": "Joey NMT", "pytorch": "PyTorch tutorial"}
"""Display names of the model families."""


@dataclass(frozen=True, eq=False)
class Course:
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
    def opened(self) -> bool:
        """Whether a source sentence begins with a start token."""
        return bool(self.settings["family"] == "tutorial")

    def attention(self, text: str, target: str | None = None) -> Attention:
        """Return the attention, energies and states for `text`, which has its tokens separated by blanks.

        With a `target` the decoder is forced through its tokens. Raise AttnvizError as `course`.
        """
        course = self.course(text.split(), None if target is None else target.split())
        return attention(
            course.source,
            course.target,
            course.alignment,
            energies=course.energies,
            states=course.states,
            origin=f"{self.name[:80]}, {self.family}",
        )

    def course(self, source: Sequence[str], target: Sequence[str] | None = None) -> Course:
        """Return a translation with all its values, by greedy search or forced through `target`.

        Greedy search follows the rules of the model's own program. Raise AttnvizError where there are no tokens, or too
        many.
        """
        if not source or (target is not None and not target) or max(len(source), len(target or ())) > MOST_TOKENS - 2:
            raise AttnvizError(gettext("Source and target must each have 1 to {most} tokens.", most=MOST_TOKENS - 2))
        stop = self.target.special(*STOPS)
        words = _ids(self.source, source)
        marks = [self.source.special(*STARTS)] if self.opened else []
        source_ids = [*marks, *words, self.source.special(*STOPS)]
        forced = [*_ids(self.target, target), stop] if target else None
        annotations = network.encode(self.weights, self.settings, source_ids)
        keys = network.keys_of(self.weights, annotations)
        state = network.start_state(self.settings, network.first_state(self.weights, self.settings, annotations))
        steps, written_ids = list[dict[str, Array]](), [self.target.special(*STARTS)]
        while len(steps) < (len(forced) if forced else min(2 * len(source_ids) + 20, MOST_TOKENS)):
            arrays, state = network.step(self.weights, self.settings, annotations, keys, state, written_ids[-1])
            written_ids.append(forced[len(steps)] if forced else self._chosen(arrays["logits"], len(steps)))
            steps.append(arrays)
            if not forced and written_ids[-1] == stop:
                break
        names = ("energies", "alignment", "contexts", "readouts", "logits")
        return Course(
            source=tuple(self.source.tokens[i] for i in source_ids),
            target=tuple(self.target.tokens[i] for i in written_ids[1:]),
            target_ids=tuple(written_ids[1:]),
            annotations=annotations,
            states=np.stack([arrays["layer_states"][-1] for arrays in steps]),
            **{name: np.stack([arrays[name] for arrays in steps]) for name in names},
        )

    def _chosen(self, logits: Array, step: int) -> int:
        """Return the token that greedy search chooses at 0-based `step`; as in Joey NMT, some tokens are excluded."""
        if self.settings["family"] == "joey":
            forbidden = [self.target.special(*STARTS), self.target.special(*PADDING)]
            logits = logits.copy()
            logits[forbidden + ([self.target.special(*STOPS)] if step == 0 else [])] = -np.inf
        return int(logits.argmax())


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


def _ids(vocabulary: Vocabulary, tokens: Sequence[str]) -> list[int]:
    known_tokens = (vocabulary.known_token(token) for token in tokens)
    return [
        vocabulary.special(*UNKNOWN) if known_form is None else vocabulary.ids[known_form]
        for known_form in known_tokens
    ]


def renamed(tensors: Mapping[str, Array], names: Mapping[str, str]) -> dict[str, Array]:
    """Return `tensors` under the names of `network.seq2seq`; `names` maps original names to these.

    The recurrent weights of encoder and decoder keep their names.
    """
    renamed_tensors = {ours: tensors[own] for own, ours in names.items() if own in tensors}
    return renamed_tensors | {
        name: tensors[name] for name in tensors if name.startswith(("encoder.rnn.", "decoder.rnn."))
    }


def check_names(missing: Sequence[str], others: Sequence[str]) -> None:
    """Raise AttnvizError where tensors are `missing`, or where there are `others` than the known ones."""
    if missing:
        raise other_structure(gettext("it lacks {names}", names=", ".join(missing[:4])))
    if others:
        reason = ngettext(
            "it has {count} unexpected tensor: {names}",
            "it has {count} unexpected tensors, such as {names}",
            len(others),
            names=", ".join(others[:3]),
        )
        raise other_structure(reason)


def unexpected_shape(name: str, tensor: Array) -> AttnvizError:
    """Return the error for a `tensor`, of any shape but the one that the other tensors imply."""
    return other_structure(gettext("{name} has the unexpected shape {shape}", name=name, shape=tensor.shape))


def check_shapes(tensors: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise AttnvizError unless the tensors have these names, and these shapes."""
    check_names([name for name in shapes if name not in tensors], sorted(set(tensors) - set(shapes)))
    for name, shape in shapes.items():
        if tensors[name].shape != shape:
            raise unexpected_shape(name, tensors[name])


def other_structure(reason: str) -> AttnvizError:
    """Return the error for a checkpoint of an unsupported structure."""
    message = gettext(
        "The structure of this checkpoint is not supported: {reason}. attnviz imports recurrent translators of three "
        "programs: the tutorial on pytorch.org (since 2023), the seq2seq tutorial of bentrevett, and Joey NMT.",
        reason=reason,
    )
    return AttnvizError(f"{message} {way_out()}")
