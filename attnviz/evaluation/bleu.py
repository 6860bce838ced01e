"""BLEU and chrF by sacrebleu, with signatures and confidence intervals, of a file and by length of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from attnviz.evaluation.forced import Likelihood, total_likelihood

Counts = NDArray[np.int64]
"""Statistics of BLEU, one row for each sentence, (N, 10); rows can be summed.

Words of translation and reference, matching n-grams (n = 1 to 4), and all n-grams of the translation.
"""

_SENTENCE = BLEU(effective_order=True)  # counts are the same without it, but sacrebleu warns for every sentence
_CHRF = CHRF()
_RESAMPLINGS = 1000
_SEED = 12345


@dataclass(frozen=True)
class Score:
    """One metric over a whole corpus."""

    metric: str
    value: float
    """From 0 to 100; higher is better."""
    signature: str
    """sacrebleu's signature: tokenizer, smoothing, version and so on."""

    def __str__(self) -> str:
        """Return the score as one line."""
        return f"{self.metric} {self.value:.2f}  {self.signature}"


@dataclass(frozen=True)
class Interval:
    """95 % bootstrap confidence interval."""

    low: float
    high: float


def corpus_scores(translations: Sequence[str], references: Sequence[str]) -> tuple[Score, Score]:
    """Return BLEU and chrF2 of detokenised, cased `translations` against one reference each.

    Raise ValueError without translations, or where the numbers of both differ.
    """
    if not translations or len(translations) != len(references):
        raise ValueError(f"{len(translations)} translations cannot be scored against {len(references)} references")
    scores = []
    for metric in (BLEU(), CHRF()):
        score = metric.corpus_score(list(translations), [list(references)])
        scores.append(Score(score.name, score.score, str(metric.get_signature())))
    bleu, chrf = scores
    return bleu, chrf


def sentence_chrf(translation: str, reference: str) -> float:
    """Return chrF2 of one translation against one reference, from 0 to 100 (Popović 2015, 2016).

    It is the F-score of character n-grams up to six, with recall weighted twice.
    """
    return float(_CHRF.sentence_score(translation, [reference]).score)


def sentence_bleu(translation: str, reference: str) -> float:
    """Return BLEU of one translation against one reference, from 0 to 100.

    It uses the n-gram orders that the translation is long enough for; precisions of 0 are smoothed (sacrebleu's `exp`).
    """
    return float(_SENTENCE.sentence_score(translation, [reference]).score)


def sentence_counts(translations: Sequence[str], references: Sequence[str]) -> Counts:
    """Return the statistics of each translation against its reference, (N, 10)."""
    rows = []
    for translation, reference in zip(translations, references, strict=True):
        score = _SENTENCE.sentence_score(translation, [reference])
        rows.append([score.sys_len, score.ref_len, *score.counts, *score.totals])
    return np.array(rows, dtype=np.int64).reshape(-1, 10)


def bleu_of(counts: Counts) -> float:
    """Return the corpus BLEU, 0 to 100, of summed statistics (10,), the same number as `corpus_scores`."""
    words, reference_words, *grams = counts.tolist()
    return float(BLEU.compute_bleu(grams[:4], grams[4:], words, reference_words, smooth_method="exp").score)


def resampled_bleu(counts: Counts) -> NDArray[np.float64]:
    """Return the BLEU, (1000,), of bootstrap samples of N sentences with these statistics (N, 10) (Koehn 2004).

    The samples depend on N only: entry k is of the same sample for two systems on the same sentences, so that
    differences of their entries are a paired bootstrap of the difference of their scores.
    """
    # `sacrebleu.significance.PairedTest` returns a p-value, but no interval of the difference.
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLINGS)
    return np.array([bleu_of(row) for row in times @ counts])


def interval(resampled: NDArray[np.float64]) -> Interval:
    """Return the bounds of the middle 95 % of the numbers `resampled`, of any shape."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(low), float(high))


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
            likely = total_likelihood(
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
