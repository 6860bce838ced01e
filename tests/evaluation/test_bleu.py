"""Corpus scores against values worked out by hand."""

from __future__ import annotations

import pytest

from attnviz.evaluation.bleu import corpus_scores


def test_bleu_by_hand() -> None:
    """Of its 6, 5, 4 and 3 n-grams, 5, 3, 2 and 1 are in the reference, which is as long."""
    bleu, chrf = corpus_scores(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert bleu.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25, abs=1e-6)
    assert (bleu.metric, chrf.metric) == ("BLEU", "chrF2")
    assert 50 < chrf.value < 100


def test_case_and_punctuation_count() -> None:
    perfect, _ = corpus_scores(["L'été, c'est bien."], ["L'été, c'est bien."])
    lower, _ = corpus_scores(["l'été, c'est bien."], ["L'été, c'est bien."])
    assert perfect.value == pytest.approx(100)
    assert lower.value < perfect.value


def test_the_signature_is_part_of_the_line() -> None:
    bleu, _ = corpus_scores(["a b c d e"], ["a b c d e"])
    assert str(bleu).startswith("BLEU 100.00  nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


@pytest.mark.parametrize(("translations", "references"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_nothing_to_score(translations: list[str], references: list[str]) -> None:
    with pytest.raises(ValueError, match="cannot be scored"):
        corpus_scores(translations, references)
