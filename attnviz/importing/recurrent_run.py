"""`Checkpoint`: an imported recurrent translator, which translates in NumPy; `Course`: a translation with all values.

The equations are those of `analysis.seq2seq_verification`, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis import seq2seq_verification as network
from attnviz.errors import AttnvizError
from attnviz.imported_families import FAMILIES
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.importing.structure import PADDING, STARTS, STOPS, UNKNOWN, check_size
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS, Attention, attention

_NEVER = {"joey": (PADDING, STARTS), "fairseq": (PADDING,)}
"""Special tokens that the search of a program never writes."""
_NEVER_EMPTY = ("joey", "fairseq")
"""Programs whose search does not end a translation before its first word."""


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
        return Course(
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
