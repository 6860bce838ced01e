"""What a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeGuard

from numpy.typing import NDArray

from attnviz.trace import Attention, Words


class Read(Protocol):
    """A translation that can be read: a `Trace`, or the part of one that is asked about."""

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """Tx of them, `</s>` last."""

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The same, but with the characters that each `<unk>` stands for."""

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """Ty of them, `</s>` last."""

    @property
    def alignment(self) -> NDArray[Any]:
        """Where each step looked, (Ty, Tx), rows sum to 1."""

    @property
    def log_probabilities(self) -> NDArray[Any]:
        """Log p(y_i), (Ty,)."""

    @property
    def probabilities(self) -> NDArray[Any]:
        """p(y_i), (Ty,)."""

    @property
    def translated(self) -> bool:
        """Whether its words have probabilities."""

    @property
    def imported(self) -> bool:
        """Whether another program trained the model."""

    @property
    def attends(self) -> bool:
        """Whether the model chose where to look at each step."""

    @property
    def attends_once(self) -> bool:
        """Whether a step had one look."""

    def words(self) -> Words:
        """Return the words and the (words, words) matrix."""


Readable = Read | Attention
"""What findings are found in: of attention that another program computed, no probabilities are known."""


def knows_words(trace: Readable) -> TypeGuard[Read]:
    """Return whether the probabilities of the words of `trace` are known."""
    return trace.translated


class Kind(StrEnum):
    """What a finding says."""

    OMITTED = "omitted"
    """Target words hardly looked at these source words."""
    OVERUSED = "overused"
    """Several looked at this one."""
    REPEATED = "repeated"
    """This target word was written before: for the same source word, or (`source` None) a few words ago."""
    UNIFORM = "uniform"
    """This target word looked everywhere alike."""
    COLLAPSED = "collapsed"
    """All target words looked at this source word."""
    SHIFTED = "shifted"
    """Words spelled alike on both sides look beside each other, all by the same distance."""
    IDENTICAL = "identical"
    """This target word is spelled like its source word, and looked at it: a name, a number, a cognate."""
    IMPROBABLE = "improbable"
    """The model itself found this target word unlikely."""


@dataclass(frozen=True)
class Finding:
    """A remark and its place, in words of `Trace.words()`."""

    kind: Kind
    value: float
    """The measure behind it: coverage (of several words their mean), how often it was written, share of the largest
    entropy, share of all attention, distance in words, alpha, or probability."""
    target: int | None = None
    source: int | None = None
    last: int | None = None
    """The last source word, where the finding is about several from `source` on."""
    strong: bool = False
    """Whether it may be called a mistake: findings like it were right at least nine times in ten."""
