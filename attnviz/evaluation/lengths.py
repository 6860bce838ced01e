"""Scores by the length of the source sentence, as in Bahdanau, Cho & Bengio (2014), Fig. 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.evaluation.bleu import Interval, bleu_of, interval, resampled_bleu, sentence_counts
from attnviz.evaluation.forced import Likelihood, together

BUCKETS = ("1-10", "11-20", "21-30", "31-40", "41-50", ">50")
"""Words of a source sentence, counted by spaces."""

FEWEST = 10
"""Smallest number of sentences with a meaningful bootstrap interval."""


@dataclass(frozen=True)
class LengthScore:
    """Scores of one model on the sentences of one bucket."""

    words: str
    """One of `BUCKETS`."""
    pairs: int
    mean_words: float
    """Mean number of source words."""
    model: str
    bleu: float
    spread: Interval | None
    """95 % bootstrap interval; None where the bucket has fewer than `FEWEST` sentences."""
    length_ratio: float
    """Words of the translations divided by words of the references: below 1 where something is omitted."""
    difference: float | None
    """BLEU minus that of the first model; None for the first model itself."""
    difference_spread: Interval | None
    bits_per_character: float
    """Bits per character of the references under forced decoding; unlike BLEU, it has no floor for poor models."""

    def record(self) -> dict[str, str | int | float | None]:
        """Return all fields, rounded, as a flat row for CSV and JSON."""
        own, gap = self.spread, self.difference_spread
        return {
            "words": self.words,
            "pairs": self.pairs,
            "mean_words": round(self.mean_words, 2),
            "model": self.model,
            "bleu": round(self.bleu, 3),
            "bleu_low": None if own is None else round(own.low, 3),
            "bleu_high": None if own is None else round(own.high, 3),
            "length_ratio": round(self.length_ratio, 4),
            "difference": None if self.difference is None else round(self.difference, 3),
            "difference_low": None if gap is None else round(gap.low, 3),
            "difference_high": None if gap is None else round(gap.high, 3),
            "bits_per_character": round(self.bits_per_character, 4),
        }


def bucket(sentence: str) -> int:
    """Return the index in `BUCKETS` of a source sentence; a blank one counts as one word."""
    return min(max(len(sentence.split()) - 1, 0) // 10, len(BUCKETS) - 1)


def scores_by_length(
    sources: Sequence[str],
    references: Sequence[str],
    translations: Mapping[str, Sequence[str]],
    likelihoods: Mapping[str, Sequence[Likelihood]],
) -> list[LengthScore]:
    """Return the scores of each model's `translations`, and of the references' `likelihoods`, by bucket.

    Empty buckets are left out.
    """
    counts = {model: sentence_counts(texts, references) for model, texts in translations.items()}
    buckets = np.array([bucket(source) for source in sources])
    words = np.array([len(source.split()) for source in sources])
    scores = []
    for index, label in enumerate(BUCKETS):
        inside = buckets == index
        if not inside.any():
            continue
        enough = inside.sum() >= FEWEST
        first: tuple[float, NDArray[np.float64]] | None = None
        for model, rows in counts.items():
            total, resampled = rows[inside].sum(axis=0), resampled_bleu(rows[inside])
            likely = together(
                likelihood for likelihood, included in zip(likelihoods[model], inside, strict=True) if included
            )
            bleu = bleu_of(total)
            scores.append(
                LengthScore(
                    label,
                    int(inside.sum()),
                    float(words[inside].mean()),
                    model,
                    bleu,
                    interval(resampled) if enough else None,
                    float(total[0] / max(1, total[1])),
                    None if first is None else bleu - first[0],
                    None if first is None or not enough else interval(resampled - first[1]),
                    likely.bits_per_character,
                )
            )
            first = first or (bleu, resampled)
    return scores
