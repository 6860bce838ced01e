"""Find words that may replace one another in a negative example: of one kind but of different meaning; their file.

A kind is an ending, capitalisation, a preceding space and a class of frequency. The meaning of a word is approximated
by the pieces of the other language that a lexicon links it to: words that share such a piece are not exchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.text import EOS, PAD, SPACE, Tokenizer

Word = tuple[int, ...]
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

    def word_form(self, word: Word) -> tuple[str, bool, bool] | None:
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
    def _members(self) -> list[list[Word]]:
        members: list[list[Word]] = [[] for _ in range(int(self.kinds.max(initial=-1)) + 1)]
        for kind, row in zip(self.kinds.tolist(), self.words.tolist(), strict=True):
            members[kind].append(tuple(index for index in row if index != PAD))
        return members

    @cached_property
    def _kind(self) -> dict[Word, int]:
        return {word: kind for kind, words in enumerate(self._members) for word in words}

    def linked_pieces(self, word: Word) -> frozenset[int]:
        """Return the pieces of the other language that the pieces of `word` are linked to."""
        return frozenset(self.counterparts[list(word)].ravel().tolist()) - {_NONE}

    def random_exchange(self, word: Word, random: np.random.Generator) -> Word | None:
        """Return a random word of the same kind that shares no linked piece with `word`.

        Return None where `word` is not exchangeable, or where eight draws find no such word.
        """
        kind = self._kind.get(word)
        if kind is None:
            return None
        members, linked = self._members[kind], self.linked_pieces(word)
        for index in random.integers(len(members), size=8).tolist():
            candidate: Word = members[index]
            if candidate != word and not linked & self.linked_pieces(candidate):
                return candidate
        return None


def learn_exchanges(
    sentences: Sequence[Sequence[int]], finder: WordFinder, counterparts: NDArray[np.int32]
) -> Exchanges:
    """Return the words of `sentences`, ids of one language, by kind; `counterparts` is (K, links).

    The first word of a sentence does not count, because it is capitalised in any case.
    """
    counts: Counter[Word] = Counter()
    for ids in sentences:
        counts.update(tuple(ids[start:end]) for start, end in finder.words(ids) if start > 0)
    most = max(_FEW, _COMMONEST * counts.total())
    kinds: dict[tuple[object, ...], list[Word]] = {}
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
