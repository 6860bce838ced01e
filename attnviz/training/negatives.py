"""Make negatives for a detector: sentence pairs that are no translations, also by exchanging words of one kind.

A kind is an ending, capitalisation, a preceding space and a class of frequency. The meaning of a word is approximated
by the pieces of the other language that a lexicon links it to: words that share such a piece are not exchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.text import EOS, PAD, SPACE, Tokenizer

EncodedSentences = tuple[list[int], list[int]]
"""Ids of a source and of a target sentence, each with `</s>` last."""

ANOTHER, EXCHANGED, DROPPED, SWAPPED = NEGATIVE_KINDS = (
    "another sentence",
    "word exchanged",
    "clause dropped",
    "clauses swapped",
)
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

    pair: EncodedSentences
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

    def draw(self, pairs: Sequence[EncodedSentences], random: np.random.Generator) -> list[Negative]:
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

    def make(
        self, kind: str, pairs: Sequence[EncodedSentences], index: int, random: np.random.Generator
    ) -> EncodedSentences | None:
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
        self, pairs: Sequence[EncodedSentences], index: int, kinds: dict[str, None], random: np.random.Generator
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


_Word = tuple[int, ...]
"""Ids of a word's pieces."""

_FEWEST = 4
"""Smallest number of occurrences of a word, and of words of a kind."""
_COMMONEST = 1e-3
"""Largest share of all words that a word may have. Exchanged function words could leave the pair a translation."""
_FEW = 200
"""Number of occurrences that is always allowed, however small the corpus."""
_LETTERS = 3
_LONGEST = 5
"""Largest number of pieces of an exchanged word."""
_NONE = -1


class WordFinder:
    """Find the words in a sentence of ids: runs of letters and digits."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Classify the pieces of `tokenizer`, whose ids the sentences have."""
        pieces = tokenizer.pieces(range(len(tokenizer)))
        self.texts = [piece.replace(SPACE, "") for piece in pieces]
        first = [piece.startswith(SPACE) for piece in pieces]
        known = [index > EOS for index in range(len(pieces))]
        spells = [text.isalnum() for text in self.texts]
        self._opens = [k and f and (s or not t) for k, f, s, t in zip(known, first, spells, self.texts, strict=True)]
        self._goes_on = [k and s and not f for k, s, f in zip(known, spells, first, strict=True)]
        self.digits = {text: index for index, text in enumerate(self.texts) if text.isdigit() and not first[index]}

    def words(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each word in `ids`."""
        start = _NONE
        for place, index in enumerate(ids):
            if self._goes_on[index]:
                start = place if start == _NONE else start
                continue
            if start != _NONE:
                yield start, place
            start = place if self._opens[index] else _NONE
        if start != _NONE:
            yield start, len(ids)

    def spelling(self, word: Iterable[int]) -> str:
        """Return the text of a word, without its leading space."""
        return "".join(self.texts[index] for index in word)

    def word_form(self, word: _Word) -> tuple[str, bool, bool] | None:
        """Return a word's last two letters, whether it is capitalised, and whether a space precedes it.

        Return None for a word that is not exchanged: shorter than three letters, or with digits.
        """
        text = self.spelling(word)
        if len(text) < _LETTERS or not text.isalpha():
            return None
        return text[-2:].lower(), text[0].isupper(), self._opens[word[0]]


@dataclass(frozen=True)
class Exchanges:
    """N words of one language, grouped by kind."""

    words: NDArray[np.int32]
    """Ids of the pieces of each word, filled with PAD, (N, pieces)."""
    kinds: NDArray[np.int32]
    """Index of the kind of each word, from 0, (N,)."""
    counterparts: NDArray[np.int32]
    """Pieces of the other language that each of the K pieces is linked to, -1 where there are fewer, (K, links)."""

    @cached_property
    def _members(self) -> list[list[_Word]]:
        members: list[list[_Word]] = [[] for _ in range(int(self.kinds.max(initial=-1)) + 1)]
        for kind, row in zip(self.kinds.tolist(), self.words.tolist(), strict=True):
            members[kind].append(tuple(index for index in row if index != PAD))
        return members

    @cached_property
    def _kind(self) -> dict[_Word, int]:
        return {word: kind for kind, words in enumerate(self._members) for word in words}

    def linked_pieces(self, word: _Word) -> frozenset[int]:
        """Return the pieces of the other language that the pieces of `word` are linked to."""
        return frozenset(self.counterparts[list(word)].ravel().tolist()) - {_NONE}

    def random_exchange(self, word: _Word, random: np.random.Generator) -> _Word | None:
        """Return a random word of the same kind that shares no linked piece with `word`.

        Return None where `word` is not exchangeable, or where eight draws find no such word.
        """
        kind = self._kind.get(word)
        if kind is None:
            return None
        members, linked = self._members[kind], self.linked_pieces(word)
        for index in random.integers(len(members), size=8).tolist():
            candidate: _Word = members[index]
            if candidate != word and not linked & self.linked_pieces(candidate):
                return candidate
        return None


def learn_exchanges(
    sentences: Sequence[Sequence[int]], finder: WordFinder, counterparts: NDArray[np.int32]
) -> Exchanges:
    """Return the words of `sentences`, ids of one language, by kind; `counterparts` is (K, links).

    The first word of a sentence does not count, because it is capitalised in any case.
    """
    counts: Counter[_Word] = Counter()
    for ids in sentences:
        counts.update(tuple(ids[start:end]) for start, end in finder.words(ids) if start > 0)
    most = max(_FEW, _COMMONEST * counts.total())
    kinds: dict[tuple[object, ...], list[_Word]] = {}
    for word, count in sorted(counts.items()):
        form = finder.word_form(word) if _FEWEST <= count <= most and len(word) <= _LONGEST else None
        if form:
            kinds.setdefault((*form, math.log2(count) // 2), []).append(word)
    members = [words for words in kinds.values() if len(words) >= _FEWEST]
    rows = np.full((sum(map(len, members)), _LONGEST), PAD, dtype=np.int32)
    for row, word in zip(rows, (word for words in members for word in words), strict=True):
        row[: len(word)] = word
    return Exchanges(rows, np.repeat(np.arange(len(members), dtype=np.int32), list(map(len, members))), counterparts)


def save_exchanges(path: Path, sides: Sequence[Exchanges]) -> None:
    """Write the exchangeable words of source and target to `path` (.npz) atomically."""
    arrays = {
        f"{side}_{name}": getattr(exchanges, name)
        for side, exchanges in zip(("source", "target"), sides, strict=True)
        for name in ("words", "kinds", "counterparts")
    }
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_exchanges(path: Path, vocabulary_size: int) -> tuple[Exchanges, Exchanges]:
    """Return what `save_exchanges` wrote.

    Raise AttnvizError, naming the file, where it is missing, damaged or not for `vocabulary_size` pieces.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            source, target = (
                Exchanges(*(arrays[f"{side}_{name}"] for name in ("words", "kinds", "counterparts")))
                for side in ("source", "target")
            )
        for side in (source, target):
            _check(side, vocabulary_size)
    except DAMAGED as error:
        raise AttnvizError(f"The file of word exchanges {path} cannot be read ({error}). Restore the file.") from error
    return source, target


def _check(side: Exchanges, vocabulary_size: int) -> None:
    """Raise ValueError unless the arrays are consistent with one another and with the vocabulary."""
    words, kinds, counterparts = side.words, side.kinds, side.counterparts
    if any(array.dtype != np.int32 for array in (words, kinds, counterparts)) or words.ndim != 2:
        raise ValueError("its arrays are of other kinds")
    if kinds.shape != words.shape[:1] or ((kinds < 0) | (kinds >= max(1, len(kinds)))).any():
        raise ValueError("its kinds do not fit its words")
    if counterparts.ndim != 2 or len(counterparts) != vocabulary_size:
        raise ValueError(f"it is of another tokenizer than one of {vocabulary_size} pieces")
    last = max(words.max(initial=0), counterparts.max(initial=0))
    if words.min(initial=0) < PAD or (words[:, :1] <= EOS).any() or last >= vocabulary_size:
        raise ValueError("it holds an id of no piece")
