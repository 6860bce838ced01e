"""Split an English sentence into clauses by rules; scores of several models on its first clause, first two, so on."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_WORDS = 4
"""Words of the shortest clause."""
_CLAUSE_OPENERS = frozenset(
    {
        "that",
        "which",
        "who",
        "whom",
        "whose",
        "where",
        "when",
        "while",
        "because",
        "although",
        "if",
        "so",
        "until",
        "before",
        "after",
        "since",
        "and",
        "but",
        "or",
        "to",
        "in",
        "on",
        "at",
        "with",
        "by",
        "for",
        "from",
        "based",
    }
)
"""Words that may begin a clause without a preceding mark: conjunctions, pronouns, prepositions."""
_STRONG_OPENERS = frozenset(
    {
        "that",
        "which",
        "who",
        "whom",
        "whose",
        "where",
        "when",
        "while",
        "because",
        "although",
        "to",
        "and",
        "but",
        "based",
    }
)
"""The subset before which a clause of at least LEAST_WORDS words ends."""
_LONG_CLAUSE = 8
"""Number of words from which a clause ends before the next word of either set."""


def clauses(sentence: str) -> tuple[str, ...]:
    """Return the clauses of `sentence`; joined by spaces, they are the sentence.

    Cuts are after commas, semicolons, colons and sentence ends, and before words that begin clauses, without a grammar.
    Each clause has at least `LEAST_WORDS` words; the last one takes the rest. A blank sentence has none.
    """
    words = sentence.split()
    cuts, start = [0], 0
    for place in range(1, len(words)):
        length = place - start
        if length < LEAST_WORDS or len(words) - place < LEAST_WORDS:
            continue
        opening = re.sub(r"^\W+|\W+$", "", words[place]).lower()
        after_mark = words[place - 1].rstrip("\"”’'»")[-1:] in tuple(",;:.!?")
        if after_mark or opening in _STRONG_OPENERS or (length >= _LONG_CLAUSE and opening in _CLAUSE_OPENERS):
            cuts.append(place)
            start = place
    return tuple(" ".join(words[begin:end]) for begin, end in zip(cuts, [*cuts[1:], len(words)], strict=True) if words)


def beginnings(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the beginnings of a sentence: its first clause, its first two clauses, and so on."""
    return tuple(" ".join(clauses[: count + 1]) for count in range(len(clauses)))


@dataclass(frozen=True, eq=False)
class Growth:
    """Translations by M models of the N beginnings of a sentence, scored against those of a reference model."""

    clauses: tuple[str, ...]
    models: tuple[str, ...]
    attentions: tuple[str, ...]
    """Each model's kind of attention: "additive", "general" or "none"."""
    translations: tuple[tuple[str, ...], ...]
    """For each model, its translations of the N beginnings."""
    reference_model: str
    """The reference model."""
    references: tuple[str, ...]
    """The reference model's translations of the N beginnings."""
    scores: NDArray[np.float64]
    """chrF2 of each translation against the reference of the same beginning, (M, N), from 0 to 100."""
    baseline: NDArray[np.float64]
    """Baseline, (N,): mean chrF2 of unrelated text of equal length, from the reference model's other translations."""

    @property
    def words(self) -> tuple[int, ...]:
        """Number of words of each beginning."""
        return tuple(len(beginning.split()) for beginning in beginnings(self.clauses))
