"""Summary of an alignment in five numbers: monotonicity, sharpness, and words copied from the source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.findings.target_findings import identical_findings
from attnviz.analysis.measures import attended_words, entropy
from attnviz.trace import Aligned


@dataclass(frozen=True)
class Summary:
    """An alignment in a few numbers."""

    moves: int
    """Pairs of neighbouring target words, without `</s>` and words of uniform attention."""
    forward: int
    """Number of these pairs whose second word attends no further left than the first; all if monotone."""
    perplexity: float
    """Perplexity of the attention, 2^H, averaged over the steps: the effective number of pieces attended to."""
    strongest: float
    """The largest weight of a step, averaged over the steps."""
    identical: int
    """Number of target words that are spelled like the source word they attend to."""


def summarise(trace: Aligned) -> Summary | None:
    """Return the summary of an alignment; None for a model without attention."""
    if not trace.attends:
        return None
    places = attended_words(trace)
    attended = [
        place for place, word in zip(places, trace.words().target, strict=True) if word != "</s>" and place >= 0
    ]
    return Summary(
        moves=max(len(attended) - 1, 0),
        forward=int((np.diff(attended) >= 0).sum()),
        perplexity=float(np.exp2(entropy(trace.alignment)).mean()),
        strongest=float(trace.alignment.max(axis=1).mean()),
        identical=sum(1 for _ in identical_findings(trace)),
    )
