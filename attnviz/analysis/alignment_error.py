"""Alignment error rate (Och & Ney 2003) of links between words, and the mutual links of an attention matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import links

Link = tuple[int, int]
"""A link (source word, target word), 0-based."""


class SureAndPossible(Protocol):
    """Gold links of a sentence pair."""

    @property
    def sure(self) -> frozenset[Link]:
        """Links that an alignment must have."""

    @property
    def possible(self) -> frozenset[Link]:
        """Links that an alignment may have."""


@dataclass(frozen=True)
class ErrorRate:
    """AER with precision and recall, each in [0, 1]."""

    aer: float
    precision: float
    """Share of the found links that are sure or possible."""
    recall: float
    """Share of the sure links that were found."""


def error_rate(found_links: Iterable[Iterable[Link]], gold: Sequence[SureAndPossible]) -> ErrorRate:
    """Return AER = 1 - (|A n S| + |A n (S u P)|) / (|A| + |S|), with counts summed over all sentences.

    Raise ValueError where the numbers of sentences differ or there are neither found nor sure links.
    """
    sure_hits = possible_hits = size = sure_size = 0
    for sentence_links, sentence_gold in zip(found_links, gold, strict=True):
        chosen = set(sentence_links)
        sure_hits += len(chosen & sentence_gold.sure)
        possible_hits += len(chosen & (sentence_gold.sure | sentence_gold.possible))
        size += len(chosen)
        sure_size += len(sentence_gold.sure)
    if not size + sure_size:
        raise ValueError("there are no links to compare")
    return ErrorRate(
        aer=1 - (sure_hits + possible_hits) / (size + sure_size),
        precision=possible_hits / max(1, size),
        recall=sure_hits / max(1, sure_size),
    )


def mutual_links(alignment: NDArray[np.float64]) -> list[Link]:
    """Return the links of an (N, M) matrix, target by source words, that are the maximum of their row and column."""
    columns = alignment.argmax(axis=0)
    return [(j, i) for j, i in links(alignment) if columns[j] == i]
