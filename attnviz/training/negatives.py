"""Make negatives for a detector: sentence pairs that are no translations, from pairs that are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.text import Tokenizer
from attnviz.training.exchanges import Exchanges, WordFinder

Sentences = tuple[list[int], list[int]]
"""Ids of a source and of a target sentence, each with `</s>` last."""

ANOTHER, EXCHANGED, DROPPED, SWAPPED = KINDS = "another sentence", "word exchanged", "clause dropped", "clauses swapped"
"""Kinds of negatives.

They are the target of another pair of similar length, one word exchanged for another of its kind (a number for a
number), one clause dropped, and two clauses swapped.
"""

TRAINED: dict[str, float] = {ANOTHER: 0.2, EXCHANGED: 0.5, DROPPED: 0.3}
"""Share of each kind in training.

Pairs with swapped clauses are left out. The network ignores word order, so to it they are the original pairs: labelled
as negatives they would contradict these, and labelled as translations they would add nothing.
"""

_CLAUSE_MARKS = frozenset((",", ";", ":", "(", ")", "--", "–", "—"))
_FEWEST_WORDS = 3
"""Smallest number of words of a clause that is dropped or swapped."""


class Negative(NamedTuple):
    """A negative and its kind."""

    pair: Sentences
    kind: str


class Negatives:
    """Make negatives; each draw depends on the random generator alone."""

    def __init__(self, exchanges: Sequence[Exchanges], tokenizer: Tokenizer) -> None:
        """Store the exchangeable words of source and target, and the tokenizer of the ids."""
        self.exchanges, self.finder = exchanges, WordFinder(tokenizer)
        self._ends_clause = [text in _CLAUSE_MARKS for text in self.finder.texts]
        self._makers: dict[str, Callable[[list[int], int, np.random.Generator], list[int] | None]] = {
            EXCHANGED: self._exchange_word,
            DROPPED: self._drop_clause,
            SWAPPED: self._swap_clauses,
        }

    def draw(self, pairs: Sequence[Sentences], random: np.random.Generator) -> list[Negative]:
        """Return a negative of each of `pairs`, all of similar length; kinds are drawn by their shares in `TRAINED`.

        Where a kind is impossible for a pair, a word is exchanged; where that is impossible too, the target is another
        pair's.
        """
        kinds = random.choice(len(TRAINED), size=len(pairs), p=list(TRAINED.values()))
        names = list(TRAINED)
        return [
            negative
            for index, kind in enumerate(kinds.tolist())
            if (
                negative := self._first_possible(pairs, index, dict.fromkeys((names[kind], EXCHANGED, ANOTHER)), random)
            )
        ]

    def make(self, kind: str, pairs: Sequence[Sentences], index: int, random: np.random.Generator) -> Sentences | None:
        """Return a negative of `kind` of the pair at `index` in `pairs`, all of similar length; None if impossible."""
        pair = pairs[index]
        if kind == ANOTHER:
            other = pairs[(index + 1) % len(pairs)][1]
            return None if other == pair[1] else (pair[0], other)
        first = int(random.integers(2))
        for side in (first, 1 - first):
            changed = self._makers[kind](pair[side], side, random)
            if changed:
                return (pair[0], changed) if side else (changed, pair[1])
        return None

    def _first_possible(
        self, pairs: Sequence[Sentences], index: int, kinds: dict[str, None], random: np.random.Generator
    ) -> Negative | None:
        for kind in kinds:
            made = self.make(kind, pairs, index, random)
            if made:
                return Negative(made, kind)
        return None

    def _exchange_word(self, ids: list[int], side: int, random: np.random.Generator) -> list[int] | None:
        """Return `ids` with one word or one number exchanged; None if impossible."""
        spans = list(self.finder.words(ids))
        for place in random.permutation(len(spans)).tolist():
            start, end = spans[place]
            word = tuple(ids[start:end])
            if self.finder.spelling(word).isdigit():
                replacement = self._other_number(word, random)
            else:
                replacement = self.exchanges[side].random_exchange(word, random) if start else None
            if replacement:
                return [*ids[:start], *replacement, *ids[end:]]
        return None

    def _other_number(self, word: tuple[int, ...], random: np.random.Generator) -> tuple[int, ...] | None:
        """Return another number with as many digits; None for digits without a piece of their own."""
        digits, texts = self.finder.digits, self.finder.texts
        if any(texts[index] and texts[index] not in digits for index in word):
            return None
        for _ in range(8):
            drawn = [
                digits.get(str(random.integers(place == 0, 10)), index) if texts[index] else index
                for place, index in enumerate(word)
            ]
            if sorted(drawn) != sorted(word):  # the detector ignores order, so 1992 and 1929 are the same
                return tuple(drawn)
        return None

    def _clauses(self, ids: list[int]) -> tuple[list[list[int]], list[int], list[int]]:
        """Return the clauses of a sentence, the marks between them, and the indices of the long enough clauses.

        There is one mark fewer than clauses. The last two pieces, the final mark and `</s>`, belong to no clause.
        """
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

    def _drop_clause(self, ids: list[int], _: int, random: np.random.Generator) -> list[int] | None:
        """Return `ids` without one clause and the mark after it, or before it if it is the last; None if impossible."""
        clauses, marks, long_clauses = self._clauses(ids)
        if len(long_clauses) < 2:
            return None
        dropped = long_clauses[int(random.integers(len(long_clauses)))]
        del clauses[dropped], marks[min(dropped, len(marks) - 1)]
        return _joined(clauses, marks) + ids[-2:]

    def _swap_clauses(self, ids: list[int], _: int, random: np.random.Generator) -> list[int] | None:
        """Return `ids` with two clauses swapped and the marks in place; None if impossible."""
        clauses, marks, long_clauses = self._clauses(ids)
        if len(long_clauses) < 2:
            return None
        first, second = random.choice(long_clauses, size=2, replace=False).tolist()
        clauses[first], clauses[second] = clauses[second], clauses[first]
        changed = _joined(clauses, marks) + ids[-2:]
        return changed if changed != ids else None


def _joined(clauses: list[list[int]], marks: list[int]) -> list[int]:
    """Return the ids of the clauses with a mark after each but the last."""
    return [
        index
        for clause, mark in zip(clauses, [[mark] for mark in marks] + [[]], strict=True)
        for index in (*clause, *mark)
    ]
