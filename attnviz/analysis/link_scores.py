"""Links of a corpus against gold links: AER, precision, recall and F1, with a bootstrap interval over sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.alignment_error import Link, SureAndPossible

SAMPLES = 1000
"""Resampled corpora of a bootstrap interval."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class LinkScore:
    """Scores of links against gold links (Och & Ney 2003), each in [0, 1]; None where nothing can be counted."""

    links: int
    """Links found, |A|."""
    sure: int
    """Sure gold links, |S|."""
    sure_hits: int
    """|A n S|."""
    possible_hits: int
    """|A n (S u P)|."""

    @property
    def aer(self) -> float | None:
        """1 - (|A n S| + |A n (S u P)|) / (|A| + |S|)."""
        return _share(self.links + self.sure - self.sure_hits - self.possible_hits, self.links + self.sure)

    @property
    def precision(self) -> float | None:
        """|A n (S u P)| / |A|."""
        return _share(self.possible_hits, self.links)

    @property
    def recall(self) -> float | None:
        """|A n S| / |S|."""
        return _share(self.sure_hits, self.sure)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True)
class AlignmentError(LinkScore):
    """Scores of all sentences together, with those of each."""

    interval: tuple[float, float] = (0.0, 1.0)
    """Bootstrap interval of the AER: percentiles over samples of the sentences, drawn with replacement."""
    confidence: float = CONFIDENCE
    sentences: tuple[LinkScore, ...] = field(default=(), repr=False)


def _share(count: int, whole: int) -> float | None:
    return count / whole if whole else None


def score_links(
    found_links: Iterable[Iterable[Link]],
    gold: Sequence[SureAndPossible],
    *,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> AlignmentError:
    """Return the scores of the `found_links` of each sentence against its gold links.

    Raise ValueError where the numbers of sentences differ, or there is no link at all.
    """
    sentences = tuple(_score(set(links), sentence_gold) for links, sentence_gold in zip(found_links, gold, strict=True))
    counts = np.array(
        [[sentence.links, sentence.sure, sentence.sure_hits, sentence.possible_hits] for sentence in sentences]
    ).reshape(-1, 4)
    total = [int(count) for count in counts.sum(axis=0)]
    if not total[0] + total[1]:
        raise ValueError("there are no links to compare")
    return AlignmentError(
        links=total[0],
        sure=total[1],
        sure_hits=total[2],
        possible_hits=total[3],
        interval=_interval(counts, samples, confidence, seed),
        confidence=confidence,
        sentences=sentences,
    )


def _score(links: set[Link], gold: SureAndPossible) -> LinkScore:
    return LinkScore(len(links), len(gold.sure), len(links & gold.sure), len(links & (gold.sure | gold.possible)))


def _interval(counts: NDArray[np.int64], samples: int, confidence: float, seed: int) -> tuple[float, float]:
    """Return the percentile interval of the AER over resampled sentences; counts (sentences, 4)."""
    generator = np.random.default_rng(seed)
    rates = []
    for _ in range(samples):
        links, sure, sure_hits, possible_hits = counts[generator.integers(0, len(counts), len(counts))].sum(axis=0)
        if links + sure:
            rates.append(1 - (sure_hits + possible_hits) / (links + sure))
    if not rates:
        return (0.0, 1.0)
    low, high = np.quantile(rates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
