"""Questions about where the decoder looked: which words are asked about, what is right, and what chance would give."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.telling import Looks
from attnviz.analysis.word_classes import is_article, is_content
from attnviz.trace import Record

Array = NDArray[np.floating]

QUESTIONS = 5
"""Words that are asked about, where so many are fit to be."""

Kind = Literal["crossed", "turned", "content", "article", "other"]
"""A word that crosses a neighbour; one that after the word is about another source word than it looked at; and else by
its class: the others are function words and numbers."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Question:
    """A target word that is asked about, 0-based as are the source words."""

    word: int
    kind: Kind
    looked: tuple[int, ...]
    """The source words it looked at most: right by alpha."""
    meant: tuple[int, ...]
    """Those that it was about most after the word: right by the posterior; none where that is unknown."""


@dataclass(frozen=True)
class Odds:
    """How many of the questions somebody answers rightly who does not know, on average."""

    looked: float
    """By alpha, with every source word alike likely to be named."""
    meant: float
    """The same by the posterior."""
    diagonal: int
    """By alpha, where the source word is named that stands as far along in its sentence as the target word in its own;
    of two equally far ones the left."""


def questions(
    record: Record, after: Array | None, most: int = QUESTIONS, told: Collection[int] = ()
) -> tuple[Question, ...]:
    """Return up to `most` words to be asked about, in the order of the translation; `after` is their posterior,
    of shape (Ty, Tx) in words, where that is known, and `told` are words whose answer was given before.

    A word is fit where the question makes sense and alpha is clear (see `telling`). Of each of KINDS in turn, again and
    again, the one of the clearest look is taken that is left, so that they are of as many kinds as there are. After all
    others come words that need no guess, those `told` and those spelled like the word they looked at; and after these a
    word of a text that was asked about already.
    """
    words = record.words()
    looks, later = Looks(record, words.alignment), None if after is None else Looks(record, after)
    fit = [word for word in range(len(words.target)) if looks.makes_sense(word) and looks.is_clear(word)]
    fit.sort(key=lambda word: -float(looks.shares[word].max()))
    seen: set[str] = set()
    first: list[int] = []
    known: list[int] = []
    again: list[int] = []
    for word in sorted(fit, key=lambda word: word in told):  # of two alike, the one that was not told of
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
    """Return what somebody would answer rightly of the questions `asked` who does not know."""
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
    """Return the source word nearest to where the diagonal meets the row of a target word, the left one of two; both
    sentences end with their end marks."""
    return int(np.ceil(word * (sources - 1) / max(targets - 1, 1) - 0.5))
