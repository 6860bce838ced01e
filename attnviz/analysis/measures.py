"""Measures of an alignment: entropy, coverage, links, drift, error rate against gold links; symmetrisation.

An alignment has drifted where its links run parallel to the diagonal, one token off. Off-by-one errors of toolkits (a
shifted decoder input, a missing or added end mark) look plausible on a heatmap. The words that a sentence and its
translation share (numbers, names, punctuation) give them away. Symmetrisation makes one alignment of those of both
directions (Och & Ney 2003; Koehn et al. 2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.trace import Array, AttentionMatrix, FloatArray, Floating, Indices, Link, TransformerTrace, float64


def entropy(alignment: ArrayLike) -> Array:
    """Return H_i = -sum_j alpha_ij log2 alpha_ij, in bits: (Ty, Tx) to (Ty,), from 0 to log2 Tx.

    0 where a target piece attends to one source piece only, log2 Tx where its attention is uniform.
    """
    rows = float64(alignment)
    logarithms = np.log2(np.where(rows > 0, rows, 1))
    return (rows * -logarithms).sum(axis=-1)


def coverage(alignment: ArrayLike) -> Array:
    """Return sum_i alpha_ij: (Ty, Tx) to (Tx,), the total attention to each source piece; it sums to Ty."""
    return float64(alignment).sum(axis=0)


def links(alignment: ArrayLike, threshold: float | None = None) -> list[tuple[int, int]]:
    """Return (source, target) links of a (target words, source words) matrix, sorted, 0-based.

    Each target word links to the source word with its largest weight (the first of equals), or, given a `threshold`, to
    every source word with at least that weight. A row of zeros has no links.
    """
    rows = float64(alignment)
    if threshold is None:
        nonzero_rows = np.flatnonzero(rows.any(axis=1))
        return sorted(zip(rows[nonzero_rows].argmax(axis=1).tolist(), nonzero_rows.tolist(), strict=True))
    i, j = np.nonzero(rows >= threshold)
    return sorted(zip(j.tolist(), i.tolist(), strict=True))


def ranked(values: Floating) -> list[int]:
    """Return the indices of `values` (N,), largest first, ties in order."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order


def named_shares(shares: Floating, least: float) -> list[int]:
    """Return the indices of the three largest `shares` (N,) that are at least `least`; at least that of the largest."""
    order = ranked(shares)
    return [k for k in order[:3] if shares[k] >= least] or order[:1]


def total_variation(p: Floating, q: Floating) -> Array:
    """Return 1/2 sum_w |p(w) - q(w)|: (..., K) and (..., K) to (...), from 0 (the same) to 1 (disjoint)."""
    return 0.5 * np.abs(p - q).sum(axis=-1, dtype=np.float64)


def ratios(parts: Array, wholes: Array, otherwise: float = 0) -> Array:
    """Return parts / wholes, (...) by (...) to (...), and `otherwise` where the whole is not positive."""
    result: Array = np.full(np.broadcast(parts, wholes).shape, otherwise, dtype=np.float64)
    return np.divide(parts, wholes, out=result, where=wholes > 0)


def cosines(vectors: Array, query: Array) -> Array:
    """Return x . q / (|x| |q|) of each of the `vectors` (N, d) with `query` (d,), (N,); 0 where either is 0."""
    return ratios(vectors @ query, np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))


def weight_order(trace: AttentionMatrix, step: int) -> list[int]:
    """Return the 0-based source pieces of 0-based `step` by weight, largest first, ties in sentence order."""
    return ranked(trace.alignment[step])


def is_uniform(trace: AttentionMatrix, step: int) -> bool:
    """Return whether 0-based `step` has uniform attention over several source pieces, within 1e-6."""
    weights = trace.alignment[step]
    return len(weights) > 1 and float(np.ptp(weights)) < 1e-6


def attended_words(trace: AttentionMatrix) -> Indices:
    """Return the source word with the largest weight of each target word, (target words,), as 0-based indices.

    -1 where all pieces of the target word have uniform attention, or its row is zero: then no word has the largest.
    """
    words = trace.words()
    uniform = np.array([all(is_uniform(trace, step) for step in group) for group in words.target_groups], dtype=bool)
    strongest: Indices = words.alignment.argmax(axis=1)
    return np.where(uniform | ~words.alignment.any(axis=1), -1, strongest)


def word_shares(trace: AttentionMatrix, step: int) -> Floating:
    """Return the attention of 0-based `step` to each source word, the sum over its pieces, (source words,)."""
    return np.array([trace.alignment[step, list(group)].sum() for group in trace.words().source_groups])


def word_weights_of_heads(trace: TransformerTrace, step: int) -> FloatArray:
    """Return the attention of each cross-attention head to each source word at 0-based `step`, (L, H, source words).

    Weights of a word's pieces are summed; rows sum to 1.
    """
    weights = trace.cross_alignment[:, :, step]
    return np.stack([weights[..., list(group)].sum(axis=-1) for group in trace.words().source_groups], axis=-1)


def strongest_words(trace: TransformerTrace, step: int) -> Indices:
    """Return the 0-based source word with the most attention of each head at 0-based `step`, (L, H)."""
    return word_weights_of_heads(trace, step).argmax(axis=-1)


Method = Literal["intersection", "union", "grow-diag-final-and"]
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def _grow_diag_final_and(forward: frozenset[Link], reverse: frozenset[Link]) -> frozenset[Link]:
    """Return the intersection, grown to neighbours in the union, then with links between two unaligned words.

    Links are visited in the order of source and target words, as `atools` of fast_align does: where two links compete,
    the order decides.
    """
    alignment = set(forward & reverse)
    sources, targets = {j for j, _ in alignment}, {i for _, i in alignment}

    def add(j: int, i: int) -> None:
        alignment.add((j, i))
        sources.add(j)
        targets.add(i)

    # GROW-DIAG: links of the union beside a link, diagonals included, if a word of them is unaligned
    grown = True
    while grown:
        grown = False
        for j, i in sorted((forward | reverse) - alignment):
            is_neighbour = any((j + dj, i + di) in alignment for dj, di in _NEIGHBOURS)
            if is_neighbour and (j not in sources or i not in targets):
                add(j, i)
                grown = True

    # FINAL-AND: links of either direction if both words are unaligned
    for direction in (forward, reverse):
        for j, i in sorted(direction):
            if j not in sources and i not in targets:
                add(j, i)
    return frozenset(alignment)


SYMMETRISATION_METHODS: Mapping[Method, Callable[[frozenset[Link], frozenset[Link]], frozenset[Link]]] = {
    "intersection": frozenset.intersection,
    "union": frozenset.union,
    "grow-diag-final-and": _grow_diag_final_and,
}
"""The functions that make one alignment of the links (source word, target word) of both directions of a pair."""
LEAST_LENGTH = 3
"""Target tokens of the shortest stretch."""
LEAST_ANCHORS = 2
"""Shared tokens that must be one token off; one alone may be linked wrongly."""


class Drift(NamedTuple):
    """A stretch of target tokens whose links are one source token off."""

    first: int
    """First target token, from 0."""
    last: int
    offset: int
    """-1 where the links point at the token before the right one, 1 where they point at the token after it."""


def drifts(alignment: ArrayLike, source: Sequence[str], target: Sequence[str]) -> list[Drift]:
    """Return the drifted stretches of an alignment (Ty, Tx) between the tokens of `source` and `target`, in order.

    Each target token is linked to the source token of its largest weight. An anchor is a token that occurs once on each
    side, in upper or lower case. A stretch has at least `LEAST_LENGTH` tokens, each linked to the source token after
    that of the one before; at least `LEAST_ANCHORS` are anchors, and all of these are off by the same token.
    """
    weights = float64(alignment)
    if not weights.size:
        return []
    linked = np.where(weights.any(axis=1), weights.argmax(axis=1), -2 * len(source))
    offsets = {i: int(linked[i]) - j for i, j in anchors(source, target)}
    found = []
    for first, last in _diagonals(linked.tolist()):
        off = {offset for i, offset in offsets.items() if first <= i <= last}
        count = sum(first <= i <= last for i in offsets)
        if last - first + 1 >= LEAST_LENGTH and count >= LEAST_ANCHORS and len(off) == 1 and off <= {-1, 1}:
            found.append(Drift(first, last, off.pop()))
    return found


def anchors(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the (target, source) indices of tokens that occur once on each side."""
    folded = [[token.casefold() for token in side] for side in (source, target)]
    counts = [Counter(side) for side in folded]
    for i, token in enumerate(folded[1]):
        if counts[0][token] == counts[1][token] == 1:
            yield i, folded[0].index(token)


def _diagonals(linked: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each longest run in which every value is one more than that before."""
    first = 0
    for i in range(1, len(linked) + 1):
        if i == len(linked) or linked[i] != linked[i - 1] + 1:
            yield first, i - 1
            first = i


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
    total = score_links(found_links, gold, samples=0)
    return ErrorRate(total.aer or 0.0, total.precision or 0.0, total.recall or 0.0)


def mutual_links(alignment: Array) -> list[Link]:
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
        return _ratio(self.links + self.sure - self.sure_hits - self.possible_hits, self.links + self.sure)

    @property
    def precision(self) -> float | None:
        """|A n (S u P)| / |A|."""
        return _ratio(self.possible_hits, self.links)

    @property
    def recall(self) -> float | None:
        """|A n S| / |S|."""
        return _ratio(self.sure_hits, self.sure)

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


def _ratio(count: int, whole: int) -> float | None:
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
    counts = np.array(
        [
            [len(found), len(pair.sure), len(found & pair.sure), len(found & (pair.sure | pair.possible))]
            for found, pair in zip(map(set, found_links), gold, strict=True)
        ]
    ).reshape(-1, 4)
    sentences = tuple(LinkScore(*row) for row in counts.tolist())
    size, sure, sure_hits, possible_hits = counts.sum(axis=0).tolist()
    if not size + sure:
        raise ValueError("there are no links to compare")
    return AlignmentError(
        size,
        sure,
        sure_hits,
        possible_hits,
        interval=_interval(counts, samples, confidence, seed),
        confidence=confidence,
        sentences=sentences,
    )


def _interval(counts: NDArray[np.int64], samples: int, confidence: float, seed: int) -> tuple[float, float]:
    """Return the percentile interval of the AER over resampled sentences; counts (sentences, 4)."""
    generator = np.random.default_rng(seed)
    rates = []
    for _ in range(samples):
        drawn = generator.integers(0, len(counts), len(counts))
        rate = LinkScore(*np.bincount(drawn, minlength=len(counts)) @ counts).aer
        if rate is not None:
            rates.append(rate)
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
