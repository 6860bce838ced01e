"""BLEU and chrF by sacrebleu, with signatures and confidence intervals, of a file and by length of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from attnviz.evaluation.forced import Likelihood, total_likelihood
from attnviz.evaluation.measurement_tables import TableRow
from attnviz.trace import Array

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


def resampled_bleu(counts: Counts) -> Array:
    """Return the BLEU, (1000,), of bootstrap samples of N sentences with these statistics (N, 10) (Koehn 2004).

    The samples depend on N only: entry k is of the same sample for two systems on the same sentences, so that
    differences of their entries are a paired bootstrap of the difference of their scores.
    """
    # `sacrebleu.significance.PairedTest` returns a p-value, but no interval of the difference.
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLINGS)
    return np.array([bleu_of(row) for row in times @ counts])


def interval(resampled: Array) -> tuple[float, float]:
    """Return the bounds of the middle 95 % of the numbers `resampled`, of any shape: a bootstrap interval."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return float(low), float(high)


BUCKETS = ("1-10", "11-20", "21-30", "31-40", "41-50", ">50")
"""Words of a source sentence, counted by spaces."""

FEWEST = 10
"""Smallest number of sentences with a meaningful bootstrap interval."""


def bucket(sentence: str) -> int:
    """Return the index in `BUCKETS` of a source sentence; a blank one counts as one word."""
    return min(max(len(sentence.split()) - 1, 0) // 10, len(BUCKETS) - 1)


def scores_by_length(
    sources: Sequence[str],
    references: Sequence[str],
    translations: Mapping[str, Sequence[str]],
    likelihoods: Mapping[str, Sequence[Likelihood]],
) -> list[TableRow]:
    """Return the scores of each model's `translations`, and of the references' `likelihoods`, by bucket.

    A row has the number of source words, one of `BUCKETS`, the pairs, their mean number of words, the model, its BLEU,
    the ratio of the words of translations and references (below 1 where something is omitted), the difference of BLEU
    from the first model's, and the bits per character of the references under forced decoding, which unlike BLEU have
    no floor for poor models. BLEU and its difference have 95 % bootstrap intervals, `low` to `high`, where the bucket
    has `FEWEST` sentences. What a row lacks is None; empty buckets are left out.
    """
    counts = {model: sentence_counts(texts, references) for model, texts in translations.items()}
    buckets = np.array([bucket(source) for source in sources])
    words = np.array([len(source.split()) for source in sources])
    rows = []
    for index, label in enumerate(BUCKETS):
        inside = buckets == index
        if not inside.any():
            continue
        first: tuple[float, Array] | None = None
        for model, sentences in counts.items():
            total, resampled = sentences[inside].sum(axis=0), resampled_bleu(sentences[inside])
            likely = total_likelihood(
                likelihood for likelihood, included in zip(likelihoods[model], inside, strict=True) if included
            )
            bleu, no_interval = bleu_of(total), (None, None)
            low, high = interval(resampled) if inside.sum() >= FEWEST else no_interval
            gap_low, gap_high = interval(resampled - first[1]) if first and low is not None else no_interval
            rows.append(
                {
                    "words": label,
                    "pairs": int(inside.sum()),
                    "mean_words": float(words[inside].mean()),
                    "model": model,
                    "bleu": bleu,
                    "bleu_low": low,
                    "bleu_high": high,
                    "length_ratio": float(total[0] / max(1, total[1])),
                    "difference": bleu - first[0] if first else None,
                    "difference_low": gap_low,
                    "difference_high": gap_high,
                    "bits_per_character": likely.bits_per_character,
                }
            )
            first = first or (bleu, resampled)
    return rows
