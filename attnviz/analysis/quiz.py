"""Quiz about the attention of a translation: choice of the words, correct answers, and scores by chance."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.illustrative_words import WordAttention
from attnviz.analysis.word_classes import is_article, is_content
from attnviz.trace import Record

Array = NDArray[np.floating]

QUESTIONS = 5
"""Number of questions, where there are enough suitable words."""

Kind = Literal["crossed", "turned", "content", "article", "other"]
"""Kinds of questions.

"crossed": the word crosses a neighbour; "turned": its posterior attention is on another source word than its
attention; the rest are word classes, where "other" means function words and numbers.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Question:
    """A question about a target word; all indices are 0-based."""

    word: int
    kind: Kind
    attended: tuple[int, ...]
    """Source words with the largest attention: correct answers by alpha."""
    meant: tuple[int, ...]
    """Source words with the largest posterior attention: correct answers by the posterior; empty where unknown."""


@dataclass(frozen=True)
class Odds:
    """Expected number of correct answers without knowledge."""

    attended: float
    """By alpha, for uniformly random answers."""
    meant: float
    """By the posterior, for uniformly random answers."""
    diagonal: int
    """By alpha, for answers at the same relative position as the target word; of two nearest words the left."""


def questions(
    record: Record, after: Array | None, most: int = QUESTIONS, answered: Collection[int] = ()
) -> tuple[Question, ...]:
    """Return up to `most` questions in the order of the translation.

    `after` is the posterior attention by words, (Ty, Tx) in words, where known; `answered` are words whose answers were
    given before. A word is suitable if the question makes sense and alpha is clear (see `illustrative_words`). For
    variety, each of KINDS in turn gets the remaining word with the clearest attention. Words that need no guess come
    after all others: those `answered`, and those spelled like their source word. Repetitions of a word come last.
    """
    words = record.words()
    attention, posterior = (
        WordAttention(record, words.alignment),
        None if after is None else WordAttention(record, after),
    )
    fit = [word for word in range(len(words.target)) if attention.makes_sense(word) and attention.is_clear(word)]
    fit.sort(key=lambda word: -float(attention.shares[word].max()))
    seen: set[str] = set()
    first: list[int] = []
    known: list[int] = []
    again: list[int] = []
    for word in sorted(fit, key=lambda word: word in answered):  # of two equal words, prefer the one not in `answered`
        text = words.target[word].lower()
        alike = text == words.source[attention.sources[word]].lower()
        (again if text in seen else known if alike or word in answered else first).append(word)
        seen.add(text)
    kinds = {word: _kind(attention, posterior, word) for word in fit}
    chosen: list[int] = []
    for remaining in (first, known, again):
        while remaining and len(chosen) < most:
            for kind in KINDS:
                best = next((word for word in remaining if kinds[word] == kind), None)
                if best is not None and len(chosen) < most:
                    chosen.append(best)
                    remaining.remove(best)
    return tuple(
        Question(word, kinds[word], attention.strongest(word), posterior.strongest(word) if posterior else ())
        for word in sorted(chosen)
    )


def odds(record: Record, asked: tuple[Question, ...]) -> Odds:
    """Return the expected number of correct answers to the questions `asked` without knowledge."""
    words = record.words()
    sources, targets = len(words.source), len(words.target)
    on_diagonal = {question.word: _along(question.word, targets, sources) for question in asked}
    return Odds(
        sum(len(question.attended) for question in asked) / sources,
        sum(len(question.meant) for question in asked) / sources,
        sum(on_diagonal[question.word] in question.attended for question in asked),
    )


def _kind(attention: WordAttention, posterior: WordAttention | None, word: int) -> Kind:
    if attention.crosses(word):
        return "crossed"
    if posterior and not set(posterior.strongest(word)) & set(attention.strongest(word)):
        return "turned"
    text = attention.record.words().target[word]
    if is_article(text, "target"):
        return "article"
    return "content" if is_content(text, "target") else "other"


def _along(word: int, targets: int, sources: int) -> int:
    """Return the source word nearest to the diagonal in the row of a target word, the left one of two.

    Both sentences end with their end marks.
    """
    return int(np.ceil(word * (sources - 1) / max(targets - 1, 1) - 0.5))
