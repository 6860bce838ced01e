"""Pairs that are no translations, made of pairs that are: what a detector is to tell from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.text import Tokenizer
from attnviz.training.exchanges import Exchanges, WordFinder

Sentences = tuple[list[int], list[int]]
"""Ids of a source and of a target sentence, `</s>` last."""

ANOTHER, EXCHANGED, DROPPED, SWAPPED = KINDS = "another sentence", "word exchanged", "clause dropped", "clauses swapped"
"""What can be done to a pair: the target of another pair of like length, a word exchanged for another of its kind (a
number for a number), a clause left out, two clauses in each other's place."""

TRAINED: dict[str, float] = {ANOTHER: 0.2, EXCHANGED: 0.5, DROPPED: 0.3}
"""Shares of the kinds in training. Pairs with clauses swapped are not among them: to a network that knows of no order
they are the pairs themselves, so that called negatives they would teach the opposite of what the pairs teach, and
called translations nothing that these do not."""

_CLAUSE_MARKS = frozenset((",", ";", ":", "(", ")", "--", "–", "—"))
_FEWEST_WORDS = 3
"""Words of a clause that is dropped or swapped, and that have to be left."""


class Negative(NamedTuple):
    """A pair made into another."""

    pair: Sentences
    kind: str


class Negatives:
    """Makes pairs that are no translations, each draw a function of the random numbers alone."""

    def __init__(self, exchanges: Sequence[Exchanges], tokenizer: Tokenizer) -> None:
        """Take the words to exchange, of source and target, and the tokenizer that the ids are of."""
        self.exchanges, self.finder = exchanges, WordFinder(tokenizer)
        self._ends_clause = [text in _CLAUSE_MARKS for text in self.finder.texts]
        self._makers: dict[str, Callable[[list[int], int, np.random.Generator], list[int] | None]] = {
            EXCHANGED: self._exchange,
            DROPPED: self._drop,
            SWAPPED: self._swap,
        }

    def draw(self, pairs: Sequence[Sentences], random: np.random.Generator) -> list[Negative]:
        """Return a negative of each of `pairs`, which are of like length, of kinds drawn by their shares in `TRAINED`;
        where a kind cannot be had of a pair, one with a word exchanged, else one with another pair's target."""
        kinds = random.choice(len(TRAINED), size=len(pairs), p=list(TRAINED.values()))
        names = list(TRAINED)
        return [
            found
            for place, kind in enumerate(kinds.tolist())
            if (found := self._first(pairs, place, dict.fromkeys((names[kind], EXCHANGED, ANOTHER)), random))
        ]

    def make(self, kind: str, pairs: Sequence[Sentences], place: int, random: np.random.Generator) -> Sentences | None:
        """Return what `kind` makes of the pair at `place` among `pairs`, which are of like length; None where it cannot
        be done."""
        pair = pairs[place]
        if kind == ANOTHER:
            other = pairs[(place + 1) % len(pairs)][1]
            return None if other == pair[1] else (pair[0], other)
        first = int(random.integers(2))
        for side in (first, 1 - first):
            changed = self._makers[kind](pair[side], side, random)
            if changed:
                return (pair[0], changed) if side else (changed, pair[1])
        return None

    def _first(
        self, pairs: Sequence[Sentences], place: int, kinds: dict[str, None], random: np.random.Generator
    ) -> Negative | None:
        for kind in kinds:
            made = self.make(kind, pairs, place, random)
            if made:
                return Negative(made, kind)
        return None

    def _exchange(self, ids: list[int], side: int, random: np.random.Generator) -> list[int] | None:
        """Exchange one word, or one number."""
        spans = list(self.finder.words(ids))
        for place in random.permutation(len(spans)).tolist():
            start, end = spans[place]
            word = tuple(ids[start:end])
            if self.finder.spelling(word).isdigit():
                found = self._number(word, random)
            else:
                found = self.exchanges[side].another(word, random) if start else None
            if found:
                return [*ids[:start], *found, *ids[end:]]
        return None

    def _number(self, word: tuple[int, ...], random: np.random.Generator) -> tuple[int, ...] | None:
        """Return a number of as many digits, of which at least one is another; None for digits that have no piece."""
        digits, texts = self.finder.digits, self.finder.texts
        if any(texts[index] and texts[index] not in digits for index in word):
            return None
        for _ in range(8):
            drawn = [
                digits.get(str(random.integers(place == 0, 10)), index) if texts[index] else index
                for place, index in enumerate(word)
            ]
            if sorted(drawn) != sorted(word):  # a bag does not know 1992 from 1929
                return tuple(drawn)
        return None

    def _clauses(self, ids: list[int]) -> tuple[list[list[int]], list[int], list[int]]:
        """Return the clauses of a sentence, the marks between them, one fewer, and the places of the clauses that are
        long enough to be dropped or swapped. Its last two pieces, the final mark and `</s>`, belong to none."""
        clauses: list[list[int]] = [[]]
        marks = []
        for index in ids[:-2]:
            if self._ends_clause[index]:
                marks.append(index)
                clauses.append([])
            else:
                clauses[-1].append(index)
        words = [len(list(self.finder.words(clause))) for clause in clauses]
        return clauses, marks, [place for place, count in enumerate(words) if count >= _FEWEST_WORDS]

    def _drop(self, ids: list[int], _: int, random: np.random.Generator) -> list[int] | None:
        """Leave out a clause and the mark after it; before it, where it is the last."""
        clauses, marks, long = self._clauses(ids)
        if len(long) < 2:
            return None
        gone = long[int(random.integers(len(long)))]
        del clauses[gone], marks[min(gone, len(marks) - 1)]
        return _joined(clauses, marks) + ids[-2:]

    def _swap(self, ids: list[int], _: int, random: np.random.Generator) -> list[int] | None:
        """Put two clauses in each other's place; the marks stay where they are."""
        clauses, marks, long = self._clauses(ids)
        if len(long) < 2:
            return None
        one, other = random.choice(long, size=2, replace=False).tolist()
        clauses[one], clauses[other] = clauses[other], clauses[one]
        changed = _joined(clauses, marks) + ids[-2:]
        return changed if changed != ids else None


def _joined(clauses: list[list[int]], marks: list[int]) -> list[int]:
    """Return the clauses with a mark after each but the last."""
    return [
        index
        for clause, mark in zip(clauses, [[mark] for mark in marks] + [[]], strict=True)
        for index in (*clause, *mark)
    ]
