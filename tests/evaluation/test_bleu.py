"""BLEU and chrF of a corpus, compared with hand-computed values."""

from __future__ import annotations

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.evaluation.bleu import bleu_of, corpus_scores, interval, resampled_bleu, sentence_counts


def test_bleu_of_small_example() -> None:
    """Of its 6, 5, 4 and 3 n-grams, 5, 3, 2 and 1 are in the reference, which is as long."""
    bleu, chrf = corpus_scores(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert bleu.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25, abs=1e-6)
    assert (bleu.metric, chrf.metric) == ("BLEU", "chrF2")
    assert 50 < chrf.value < 100


@pytest.mark.parametrize(("translations", "references"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_scoring_without_pairs_is_refused(
    translations: list[str], references: list[str], snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(ValueError, match="scored") as error:
        corpus_scores(translations, references)
    assert str(error.value) == snapshot


def test_sentence_counts_sum_to_corpus_bleu() -> None:
    translations = ["Le chat est là.", "Deux chiens jouent dans la neige.", "Je ne sais pas", "oui"]
    references = ["Le chat est ici.", "Deux chiens jouent dans l'eau.", "Je ne sais pas de quoi.", "oui"]
    counts = sentence_counts(translations, references)
    assert bleu_of(counts.sum(axis=0)) == pytest.approx(corpus_scores(translations, references)[0].value)


def test_resampling_is_paired_and_repeatable() -> None:
    """Where two systems err on some of the same sentences, their difference varies less than unpaired draws would."""
    references = [f"the cat number {number} sat on a large red mat" for number in range(40)]
    worse = [text.replace("sat on", "lay by") if place % 3 else text for place, text in enumerate(references)]
    better = [text.replace("sat on", "lay by") if place % 2 else text for place, text in enumerate(references)]
    first, second = (resampled_bleu(sentence_counts(texts, references)) for texts in (worse, better))
    np.testing.assert_array_equal(first, resampled_bleu(sentence_counts(worse, references)))
    low, high = interval(first)
    assert low < bleu_of(sentence_counts(worse, references).sum(axis=0)) < high
    assert np.std(second - first) < np.hypot(np.std(first), np.std(second))
