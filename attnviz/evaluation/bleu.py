"""BLEU and chrF of translations, by sacrebleu, each with the signature that makes it comparable; how sure BLEU is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

Counts = NDArray[np.int64]
"""What BLEU is made of, a row a sentence, (N, 10): words of the translation and of the reference, the n-grams (n = 1 to
4) of the translation that the reference has too, and all of them. Rows add up."""

_SENTENCE = BLEU(effective_order=True)  # the counts are the same; without it, sacrebleu warns at every sentence
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
    """sacrebleu's account of how it was computed: tokenizer, smoothing, version and so on."""

    def __str__(self) -> str:
        """Return the score as one line."""
        return f"{self.metric} {self.value:.2f}  {self.signature}"


@dataclass(frozen=True)
class Interval:
    """Where 95 of 100 resamplings of the sentences put a number."""

    low: float
    high: float


def corpus_scores(translations: Sequence[str], references: Sequence[str]) -> tuple[Score, Score]:
    """Return BLEU and chrF2 of detokenised, cased `translations` against one reference each.

    Raise ValueError where there is none, or not one reference for each translation.
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
    """Return chrF2 of one translation against one reference, from 0 to 100: how far their runs of up to six letters
    agree, recall weighing twice precision (Popović 2015, 2016)."""
    return float(_CHRF.sentence_score(translation, [reference]).score)


def sentence_bleu(translation: str, reference: str) -> float:
    """Return BLEU of one translation against one reference, from 0 to 100: of the orders of n-grams that it is long
    enough for, a precision of 0 smoothed (sacrebleu's `exp`)."""
    return float(_SENTENCE.sentence_score(translation, [reference]).score)


def sentence_counts(translations: Sequence[str], references: Sequence[str]) -> Counts:
    """Return the counts of each translation against its reference, (N, 10)."""
    rows = []
    for translation, reference in zip(translations, references, strict=True):
        score = _SENTENCE.sentence_score(translation, [reference])
        rows.append([score.sys_len, score.ref_len, *score.counts, *score.totals])
    return np.array(rows, dtype=np.int64).reshape(-1, 10)


def bleu_of(counts: Counts) -> float:
    """Return the corpus BLEU, 0 to 100, of summed counts (10,): the very number of `corpus_scores`."""
    words, reference_words, *grams = counts.tolist()
    return float(BLEU.compute_bleu(grams[:4], grams[4:], words, reference_words, smooth_method="exp").score)


def resampled_bleu(counts: Counts) -> NDArray[np.float64]:
    """Return the BLEU, (1000,), of as many corpora drawn, with replacement, from N sentences with these counts (N, 10)
    (Koehn 2004).

    The draws depend on N alone: for two systems on the same sentences, entry k is of the same draw, so that the
    differences of their entries tell how sure the difference of their scores is (the paired bootstrap).
    """
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLINGS)
    return np.array([bleu_of(row) for row in times @ counts])


def interval(resampled: NDArray[np.float64]) -> Interval:
    """Return the bounds of the middle 95% of the numbers `resampled`, of any shape."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(low), float(high))
