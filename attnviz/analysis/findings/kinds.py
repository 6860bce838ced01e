"""What a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
