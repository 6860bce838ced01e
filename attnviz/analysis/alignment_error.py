"""Alignment error rate (AER), precision, recall, F1 and bootstrap interval; mutual links; AER of two programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import links
from attnviz.trace.word_link_text import Link


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
class WordError:
    """A source and a target word that were linked wrongly, or whose sure gold link is missing, over all sentences."""

    source: str
    target: str
    linked: bool
    """True: linked without a gold link; False: not linked in spite of a sure gold link."""
    count: int


@dataclass(frozen=True)
class AlignmentError(LinkScore):
    """Scores of all sentences together, with those of each."""

    interval: tuple[float, float] = (0.0, 1.0)
    """Bootstrap interval of the AER: percentiles over samples of the sentences, drawn with replacement."""
    confidence: float = CONFIDENCE
    sentences: tuple[LinkScore, ...] = field(default=(), repr=False)
    word_errors: tuple[WordError, ...] | None = field(default=None, repr=False)
    """The wrong word pairs, the most frequent first, without links out of range; None where the words are unknown."""


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
        drawn = generator.integers(0, len(counts), len(counts))
        links, sure, sure_hits, possible_hits = np.bincount(drawn, minlength=len(counts)) @ counts
        if links + sure:
            rates.append(1 - (sure_hits + possible_hits) / (links + sure))
    if not rates:
        return (0.0, 1.0)
    low, high = np.quantile(rates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class PairAgreement:
    """The links (source word, target word) of two programs for one sentence pair, 0-based."""

    first: frozenset[Link]
    other: frozenset[Link]

    @property
    def shared(self) -> frozenset[Link]:
        """Links of both."""
        return self.first & self.other

    @property
    def only_first(self) -> frozenset[Link]:
        """Links that only the first has."""
        return self.first - self.other

    @property
    def only_other(self) -> frozenset[Link]:
        """Links that only the other has."""
        return self.other - self.first

    @property
    def aer(self) -> float | None:
        """AER of one against the other, 1 - 2 |A n B| / (|A| + |B|); None where there are no links."""
        return error_between([self])


def error_between(pairs: Iterable[PairAgreement]) -> float | None:
    """Return the AER of the links of all pairs together; None where there are no links."""
    counts = [(len(pair.shared), len(pair.first) + len(pair.other)) for pair in pairs]
    shared, size = (sum(count) for count in zip(*counts, strict=True)) if counts else (0, 0)
    return 1 - 2 * shared / size if size else None
