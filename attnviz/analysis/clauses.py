"""A long sentence as clauses, so that it can be made to grow, and what translators make of each beginning of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_WORDS = 4
"""Words of the shortest clause."""
_OPENING = frozenset(
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
"""Words that a clause may begin with where no mark stands before it: conjunctions, pronouns, prepositions."""
_STRONG = frozenset(
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
"""Those of them at which it is cut as soon as a clause has enough words."""
_PATIENCE = 8
"""Words after which a clause ends at the next word of any of both kinds."""


def clauses(sentence: str) -> tuple[str, ...]:
    """Return stretches of `sentence` that are all of it, in order and joined by blanks: cut after a comma, a semicolon,
    a colon or the end of a sentence, and before words that clauses begin with.

    It knows no grammar: each has at least `LEAST_WORDS` words, and the last takes what is left. The blank sentence has
    none.
    """
    words = sentence.split()
    cuts, start = [0], 0
    for place in range(1, len(words)):
        length = place - start
        if length < LEAST_WORDS or len(words) - place < LEAST_WORDS:
            continue
        opening = re.sub(r"^\W+|\W+$", "", words[place]).lower()
        marked = words[place - 1].rstrip("\"”’'»")[-1:] in tuple(",;:.!?")
        if marked or opening in _STRONG or (length >= _PATIENCE and opening in _OPENING):
            cuts.append(place)
            start = place
    return tuple(" ".join(words[one:end]) for one, end in zip(cuts, [*cuts[1:], len(words)], strict=True) if words)


def beginnings(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentence after each of its clauses: the first alone, the first two, and so on."""
    return tuple(" ".join(parts[: count + 1]) for count in range(len(parts)))


@dataclass(frozen=True, eq=False)
class Growth:
    """What M models make of the N beginnings of a sentence, beside the translations of one model to measure by."""

    clauses: tuple[str, ...]
    models: tuple[str, ...]
    attentions: tuple[str, ...]
    """The kind of each model's attention: "additive", "general" or "none"."""
    translations: tuple[tuple[str, ...], ...]
    """Of each model, those of the N beginnings."""
    judge: str
    """The model that the others are measured by."""
    references: tuple[str, ...]
    """Its translations of the N beginnings."""
    scores: NDArray[np.float64]
    """chrF2 of each translation against the reference of the same beginning, (M, N), from 0 to 100."""
    floor: NDArray[np.float64]
    """What a text has that is no translation of it: as many words of what the judge makes of other sentences, the mean
    over these, (N,)."""

    @property
    def words(self) -> tuple[int, ...]:
        """How many words each beginning has."""
        return tuple(len(beginning.split()) for beginning in beginnings(self.clauses))
