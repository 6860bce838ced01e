"""Quiz about the attention of a translation: choice of the words, correct answers, and scores by chance."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.illustrative_words import LARGEST_SHARED, WordAttention
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
    record: Record, posterior_weights: Array | None, most: int = QUESTIONS, answered: Collection[int] = ()
) -> tuple[Question, ...]:
    """Return up to `most` questions in the order of the translation.

    `posterior_weights` are by words, (Ty, Tx) in words, None where unknown; `answered` words were asked about before. A
    word is suitable if the question makes sense and alpha is clear (see `illustrative_words`). First come words that
    attend mostly to another position than their own, then those that divide their attention, then all others. Words
    that need no guess come after them: `answered` ones, and those spelled like their source word; repetitions come
    last. For variety, each of KINDS in turn gets the word with the clearest attention.
    """
    words = record.words()
    attention, posterior = (
        WordAttention(record, words.alignment),
        None if posterior_weights is None else WordAttention(record, posterior_weights),
    )
    sources, targets = len(words.source), len(words.target)

    def group_of(word: int) -> int:
        source = attention.sources[word]
        if word in answered or words.target[word].lower() == words.source[source].lower():
            return 3
        if source not in (word, _diagonal_source(word, targets, sources)):
            return 0
        return 1 if attention.shares[word].max() <= LARGEST_SHARED else 2

    suitable = [word for word in range(targets) if attention.makes_sense(word) and attention.is_clear(word)]
    suitable.sort(key=lambda word: -float(attention.shares[word].max()))
    texts: set[str] = set()
    groups: tuple[list[int], ...] = ([], [], [], [], [])
    for word in sorted(suitable, key=group_of):  # of two equal words, the harder one
        text = words.target[word].lower()
        groups[4 if text in texts else group_of(word)].append(word)
        texts.add(text)
    kinds = {word: _kind(attention, posterior, word) for word in suitable}
    chosen: list[int] = []
    for remaining in groups:
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


def odds(record: Record, asked_questions: tuple[Question, ...]) -> Odds:
    """Return the expected number of correct answers to `asked_questions` without knowledge."""
    words = record.words()
    sources, targets = len(words.source), len(words.target)
    on_diagonal = {question.word: _diagonal_source(question.word, targets, sources) for question in asked_questions}
    return Odds(
        sum(len(question.attended) for question in asked_questions) / sources,
        sum(len(question.meant) for question in asked_questions) / sources,
        sum(on_diagonal[question.word] in question.attended for question in asked_questions),
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


def _diagonal_source(word: int, targets: int, sources: int) -> int:
    """Return the source word nearest to the diagonal in the row of a target word, the left one of two.

    Both sentences end with their end marks.
    """
    return int(np.ceil(word * (sources - 1) / max(targets - 1, 1) - 0.5))
