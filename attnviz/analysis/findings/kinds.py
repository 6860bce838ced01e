"""Data types of findings: a finding, the kinds of findings, and the protocol of what they are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeGuard

from numpy.typing import NDArray

from attnviz.trace import Attention, Words


class FindingsInput(Protocol):
    """The part of a `Trace` that findings are computed from."""

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """The Tx source pieces, `</s>` last."""

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The source pieces, with the typed characters in place of each `<unk>`."""

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """The Ty target pieces, `</s>` last."""

    @property
    def alignment(self) -> NDArray[Any]:
        """Attention, (Ty, Tx); rows sum to 1."""

    @property
    def log_probabilities(self) -> NDArray[Any]:
        """Log probabilities log p(y_i), (Ty,), in nats."""

    @property
    def probabilities(self) -> NDArray[Any]:
        """Probabilities p(y_i), (Ty,)."""

    @property
    def translated(self) -> bool:
        """Whether the probabilities of its words are known."""

    @property
    def imported(self) -> bool:
        """Whether the model was trained by another program."""

    @property
    def attends(self) -> bool:
        """Whether the model has attention."""

    @property
    def attends_once(self) -> bool:
        """Whether each step has one attention distribution."""

    def words(self) -> Words:
        """Return the alignment by words."""


Readable = FindingsInput | Attention
"""Anything that has findings; attention of other programs has no probabilities."""


def has_word_probabilities(trace: Readable) -> TypeGuard[FindingsInput]:
    """Return whether the probabilities of the words of `trace` are known."""
    return trace.translated


class Kind(StrEnum):
    """What a finding states."""

    OMITTED = "omitted"
    """These source words get almost no attention."""
    OVERUSED = "overused"
    """Several target words attend to this source word."""
    REPEATED = "repeated"
    """This target word was written before: for the same source word, or (`source` None) a few words ago."""
    UNIFORM = "uniform"
    """This target word attends to all source words alike."""
    COLLAPSED = "collapsed"
    """All target words attend to this source word."""
    SHIFTED = "shifted"
    """Words spelled alike on both sides attend to a neighbour, all at the same distance."""
    IDENTICAL = "identical"
    """This target word is spelled like the source word it attends to: a name, a number, a cognate."""
    IMPROBABLE = "improbable"
    """The model gave this target word a low probability."""


@dataclass(frozen=True)
class Finding:
    """A finding and its place, in words of `Trace.words()`."""

    kind: Kind
    value: float
    """The measured value, by kind.

    Coverage (the mean of several words), number of occurrences, share of the largest entropy, share of all attention,
    distance in words, alpha, or probability.
    """
    target: int | None = None
    source: int | None = None
    last: int | None = None
    """The last source word, where the finding is about several words from `source` on."""
    strong: bool = False
    """Whether it may be called a mistake: at least nine in ten findings like it were right."""
