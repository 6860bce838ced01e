"""The whole alignment in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.findings.of_target import words_spelled_alike
from attnviz.analysis.measures import entropy
from attnviz.trace import Aligned


@dataclass(frozen=True)
class Summary:
    """The whole alignment in a few numbers."""

    moves: int
    """Pairs of neighbouring target words, `</s>` left out."""
    forward: int
    """How many of them do not look further left than the word before: all of them in a plain diagonal."""
    alike: float
    """2^H, averaged over the steps: a step looks as widely as if at that many pieces alike."""
    strongest: float
    """The largest weight of a step, averaged over the steps."""
    identical: int
    """Target words that are spelled like their source word and looked at it."""


def summarise(trace: Aligned) -> Summary | None:
    """Return the alignment in a few numbers, or None for a model without attention."""
    if not trace.attends:
        return None
    words = trace.words()
    ends = [i for i, word in enumerate(words.target) if word != "</s>" and words.alignment[i].any()]
    looks = words.alignment[ends].argmax(axis=1)
    return Summary(
        moves=max(len(looks) - 1, 0),
        forward=int((np.diff(looks) >= 0).sum()),
        alike=float(np.exp2(entropy(trace.alignment)).mean()),
        strongest=float(trace.alignment.max(axis=1).mean()),
        identical=sum(1 for _ in words_spelled_alike(words)),
    )
