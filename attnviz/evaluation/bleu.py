"""BLEU and chrF by sacrebleu, with signatures that make scores comparable, and confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

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
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLINGS)
    return np.array([bleu_of(row) for row in times @ counts])


def interval(resampled: NDArray[np.float64]) -> Interval:
    """Return the bounds of the middle 95 % of the numbers `resampled`, of any shape."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(low), float(high))
