"""BLEU and chrF of translations, by sacrebleu, each with the signature that makes it comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF


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
