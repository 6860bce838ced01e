"""Quiz about the attention of a translation: choice of the words, correct answers, and scores by chance."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.illustrative_words import Looks
from attnviz.analysis.word_classes import is_article, is_content
from attnviz.trace import Record

Array = NDArray[np.floating]

QUESTIONS = 5
"""Number of questions, where there are enough suitable words."""

Kind = Literal["crossed", "turned", "content", "article", "other"]
"""Kinds of questions.

A word that crosses a neighbour; one whose posterior attention is on another source word than its attention; otherwise
by word class, where "other" means function words and numbers.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Question:
    """A question about a target word; all indices are 0-based."""

    word: int
    kind: Kind
    looked: tuple[int, ...]
    """Source words with the largest attention: correct answers by alpha."""
    meant: tuple[int, ...]
    """Source words with the largest posterior attention: correct answers by the posterior; empty where unknown."""


@dataclass(frozen=True)
class Odds:
    """Expected number of correct answers without knowledge."""

    looked: float
    """By alpha, for uniformly random answers."""
    meant: float
    """By the posterior, for uniformly random answers."""
    diagonal: int
    """By alpha, for answers at the same relative position as the target word; of two nearest words the left."""


def questions(
    record: Record, after: Array | None, most: int = QUESTIONS, told: Collection[int] = ()
) -> tuple[Question, ...]:
    """Return up to `most` questions in the order of the translation.

    `after` is the posterior attention by words, (Ty, Tx) in words, where known; `told` are words whose answers were
    given before. A word is suitable if the question makes sense and alpha is clear (see `telling`). Taking each of
    KINDS in turn, the remaining word with the clearest attention is chosen, for variety. Words that need no guess come
    after all others: those `told`, and those spelled like their source word. Repetitions of a word come last.
    """
    words = record.words()
    looks, later = Looks(record, words.alignment), None if after is None else Looks(record, after)
    fit = [word for word in range(len(words.target)) if looks.makes_sense(word) and looks.is_clear(word)]
    fit.sort(key=lambda word: -float(looks.shares[word].max()))
    seen: set[str] = set()
    first: list[int] = []
    known: list[int] = []
    again: list[int] = []
    for word in sorted(fit, key=lambda word: word in told):  # of two equal words, prefer the one not in `told`
        text = words.target[word].lower()
        alike = text == words.source[looks.sources[word]].lower()
        (again if text in seen else known if alike or word in told else first).append(word)
        seen.add(text)
    kinds = {word: _kind(looks, later, word) for word in fit}
    chosen: list[int] = []
    for left in (first, known, again):
        while left and len(chosen) < most:
            for kind in KINDS:
                one = next((word for word in left if kinds[word] == kind), None)
                if one is not None and len(chosen) < most:
                    chosen.append(one)
                    left.remove(one)
    return tuple(
        Question(word, kinds[word], looks.strongest(word), later.strongest(word) if later else ())
        for word in sorted(chosen)
    )


def odds(record: Record, asked: tuple[Question, ...]) -> Odds:
    """Return the expected number of correct answers to the questions `asked` without knowledge."""
    words = record.words()
    sources, targets = len(words.source), len(words.target)
    named = {one.word: _along(one.word, targets, sources) for one in asked}
    return Odds(
        sum(len(one.looked) for one in asked) / sources,
        sum(len(one.meant) for one in asked) / sources,
        sum(named[one.word] in one.looked for one in asked),
    )


def _kind(looks: Looks, later: Looks | None, word: int) -> Kind:
    if looks.crosses(word):
        return "crossed"
    if later and not set(later.strongest(word)) & set(looks.strongest(word)):
        return "turned"
    text = looks.record.words().target[word]
    if is_article(text, "target"):
        return "article"
    return "content" if is_content(text, "target") else "other"


def _along(word: int, targets: int, sources: int) -> int:
    """Return the source word nearest to the diagonal in the row of a target word, the left one of two.

    Both sentences end with their end marks.
    """
    return int(np.ceil(word * (sources - 1) / max(targets - 1, 1) - 0.5))
